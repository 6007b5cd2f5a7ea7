// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <tutti/collectives/allgather.hpp>
#include <tutti/collectives/allgatherv.hpp>
#include <tutti/collectives/allreduce.hpp>

#include "common/agree.hpp"
#include "dictionary.hpp"

namespace tutti::data {

namespace {

using miniapps::IdEntry;
using miniapps::IdTable;
using miniapps::SidecarTable;

/// One after the other, what all ranks give; `first` is where each rank's begins.
template <typename T>
std::vector<T> gather_all(const Communicator& comm, const std::vector<T>& mine, std::vector<std::size_t>& first) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::size_t> counts(ranks);
  const std::size_t count = mine.size();
  allgather(comm, ConstBuffer(&count, 1), counts);
  first.resize(ranks);
  std::exclusive_scan(counts.begin(), counts.end(), first.begin(), std::size_t{0});
  std::vector<T> all(first.back() + counts.back());
  allgatherv(comm, mine, all, counts, first);
  return all;
}

/// Entries of a table in the order in which they are numbered: by falling count, then by hash, then by id.
std::vector<IdEntry*> by_frequency(IdTable& table, std::uint64_t threshold) {
  std::vector<IdEntry*> order;
  for (IdEntry& entry : table.entries()) {
    if (entry.count > 0 && entry.count >= threshold) {
      entry.value = miniapps::id_hash(entry.id);  // the row replaces it
      order.push_back(&entry);
    }
  }
  std::ranges::sort(order, [](const IdEntry* a, const IdEntry* b) {
    return a->count != b->count ? a->count > b->count : a->value != b->value ? a->value < b->value : a->id < b->id;
  });
  return order;
}

/// Count, and how many ids of this rank have it, by falling count.
std::vector<std::uint64_t> count_runs(const std::vector<IdEntry*>& order) {
  std::vector<std::uint64_t> runs;
  for (const IdEntry* entry : order) {
    if (runs.empty() || runs[runs.size() - 2] != entry->count) {
      runs.insert(runs.end(), {entry->count, 0});
    }
    ++runs.back();
  }
  return runs;
}

struct Run {
  std::uint64_t count;
  std::size_t rank;
  std::uint64_t ids;
};

/// The runs of all ranks in the order of the rows: hashes ascend with the ranks, so equal counts go by rank.
std::vector<Run> all_runs(const Communicator& comm, const std::vector<std::uint64_t>& mine) {
  std::vector<std::size_t> first;
  const auto gathered = gather_all(comm, mine, first);
  std::vector<Run> runs;
  for (std::size_t i = 0; i < gathered.size(); i += 2) {
    const auto rank = static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), i) - first.begin()) - 1;
    runs.push_back({gathered[i], rank, gathered[i + 1]});
  }
  std::ranges::sort(
      runs, [](const Run& a, const Run& b) { return a.count != b.count ? a.count > b.count : a.rank < b.rank; });
  return runs;
}

void check_rows(std::uint64_t rows) {
  if (rows > std::numeric_limits<std::int32_t>::max()) {
    throw miniapps::AgreedError(ErrorCode::not_supported, "a table has " + std::to_string(rows) +
                                                              " ids, but files of int32 number 2^31 - 1 rows; use "
                                                              "--frequency-threshold or --hash-rows");
  }
}

/// The sums over all ranks, and the hottest rows of all.
void combine(const Communicator& comm, SidecarTable& table) {
  miniapps::SidecarCounts& counts = table.counts;
  sort_hottest(counts);
  counts.blocks.resize(miniapps::lookup_blocks(table.rows));
  allreduce(comm, in_place, counts.bucket_rows, sum);
  allreduce(comm, in_place, counts.bucket_lookups, sum);
  allreduce(comm, in_place, counts.blocks, sum);
  std::vector<std::uint64_t> mine;
  for (const auto& [row, count] : counts.hottest) {
    mine.insert(mine.end(), {row, count});
  }
  std::vector<std::size_t> first;
  const auto all = gather_all(comm, mine, first);
  counts.hottest.clear();
  for (std::size_t i = 0; i < all.size(); i += 2) {
    counts.hottest.emplace_back(all[i], all[i + 1]);
  }
  sort_hottest(counts);
}

}  // namespace

void Dictionary::number_by_first(const Communicator& comm, IdTable& table, std::uint64_t keys, std::uint64_t& ids) {
  constexpr std::uint64_t bits = 64;
  if (keys > std::numeric_limits<std::uint32_t>::max()) {
    throw miniapps::AgreedError(ErrorCode::not_supported,
                                "the parts have more than 2^32 - 1 ids of a table, which cannot be numbered by "
                                "first appearance; use --numbering frequency");
  }
  std::vector<std::uint64_t> seen(keys / bits + 1);  // a bit for each key of an id that gets a row
  for (const IdEntry& entry : table.entries()) {
    if (entry.count > 0 && !is_rare(entry)) {
      seen[entry.value / bits] |= std::uint64_t{1} << (entry.value % bits);
    }
  }
  allreduce(comm, in_place, seen, bor);
  std::vector<std::uint32_t> before(seen.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    before[i] = static_cast<std::uint32_t>(ids);
    ids += static_cast<std::uint64_t>(std::popcount(seen[i]));
  }
  for (IdEntry& entry : table.entries()) {
    const std::uint64_t lower = (std::uint64_t{1} << (entry.value % bits)) - 1;
    const auto within = static_cast<std::uint32_t>(std::popcount(seen[entry.value / bits] & lower));
    entry.value = entry.count == 0 || is_rare(entry) ? 0 : first_row() + before[entry.value / bits] + within;
  }
}

void Dictionary::number_by_frequency(const Communicator& comm, IdTable& table, std::uint64_t& ids) {
  for (IdEntry& entry : table.entries()) {
    entry.value = 0;
  }
  const auto order = by_frequency(table, rule_.threshold);
  std::size_t next = 0;
  for (const Run& run : all_runs(comm, count_runs(order))) {
    const bool is_mine = run.rank == static_cast<std::size_t>(comm.rank());
    for (std::uint64_t i = 0; is_mine && i < run.ids; ++i) {
      order[next++]->value = static_cast<std::uint32_t>(first_row() + ids + i);
    }
    ids += run.ids;
  }
}

SidecarTable Dictionary::number(const Communicator& comm, std::size_t t, std::uint64_t keys, std::uint64_t rows) {
  IdTable& table = tables_[t];
  SidecarTable facts;
  if (rule_.kind == DictionaryRule::Kind::first) {
    number_by_first(comm, table, keys, facts.ids);
  } else if (rule_.kind == DictionaryRule::Kind::frequency) {
    number_by_frequency(comm, table, facts.ids);
  } else {
    for (IdEntry& entry : table.entries()) {
      entry.value = is_rare(entry) ? 0 : entry.id;
    }
  }
  std::uint64_t rare = 0;
  std::uint64_t last = 0;
  for (const IdEntry& entry : table.entries()) {
    const bool has_row = entry.count > 0 && !is_rare(entry);
    rare += has_row ? 0 : entry.count;
    last = has_row ? std::max<std::uint64_t>(last, entry.value) : last;
  }
  allreduce(comm, in_place, Buffer(&rare, 1), sum);
  allreduce(comm, in_place, Buffer(&last, 1), max);
  facts.rows = rows > 0 ? rows : last + 1;
  check_rows(facts.rows);
  for (const IdEntry& entry : table.entries()) {
    add_row(facts, entry.value, is_rare(entry) ? 0 : entry.count);
  }
  if (comm.rank() == 0) {
    add_row(facts, 0, rare);
  }
  combine(comm, facts);
  return facts;
}

}  // namespace tutti::data
