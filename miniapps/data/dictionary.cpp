// SPDX-License-Identifier: BSD-3-Clause
#include "dictionary.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tutti/collectives/alltoall.hpp>
#include <tutti/collectives/alltoallv.hpp>
#include <tutti/error.hpp>

namespace tutti::data {

namespace {

using miniapps::IdEntry;
using miniapps::IdTable;

std::size_t owner_of(std::uint32_t id, std::size_t ranks) {
  return ranks == 1 ? 0 : static_cast<std::size_t>((std::uint64_t{miniapps::id_hash(id)} * ranks) >> 32U);
}

/// Ids of all tables as they go to their owners: rank by rank, in each table by table.
struct Dealt {
  std::size_t ranks;
  std::size_t tables;
  std::vector<std::size_t> counts;  ///< [ranks][tables]
  std::vector<std::size_t> places;  ///< [ranks][tables]: where each begins; moved on as they are filled

  Dealt(std::size_t all_ranks, std::size_t all_tables)
      : ranks(all_ranks), tables(all_tables), counts(all_ranks * all_tables), places(all_ranks * all_tables) {}
  void begin() { std::exclusive_scan(counts.begin(), counts.end(), places.begin(), std::size_t{0}); }
  [[nodiscard]] std::size_t size() const { return std::reduce(counts.begin(), counts.end()); }
  [[nodiscard]] std::vector<std::size_t> of_ranks(std::size_t width) const {
    std::vector<std::size_t> sums(ranks);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      sums[i / tables] += counts[i] * width;
    }
    return sums;
  }
};

std::vector<std::size_t> displacements(const std::vector<std::size_t>& counts) {
  std::vector<std::size_t> places(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), std::size_t{0});
  return places;
}

/// How many of each table come from each rank.
Dealt exchange_counts(const Communicator& comm, const Dealt& out) {
  Dealt in(out.ranks, out.tables);
  alltoall(comm, out.counts, in.counts);
  in.begin();
  return in;
}

/// Sends `send`, laid out as `out`, and receives what is laid out as `in`; `width` numbers an id.
void exchange(const Communicator& comm, const Dealt& out, const std::vector<std::uint32_t>& send, const Dealt& in,
              std::size_t width, std::vector<std::uint32_t>& received) {
  received.resize(in.size() * width);
  const auto sent = out.of_ranks(width);
  const auto got = in.of_ranks(width);
  alltoallv(comm, send, sent, displacements(sent), received, got, displacements(got));
}

/// Calls use(table, place in its list, place among all) for every id.
template <typename Key, typename Use>
void for_each_id(std::span<const IdList> lists, Dealt& dealt, Key&& key, Use&& use) {
  dealt.begin();
  for (std::size_t t = 0; t < lists.size(); ++t) {
    for (std::size_t i = 0; i < lists[t].ids.size(); ++i) {
      use(t, i, dealt.places[owner_of(key(lists[t].ids[i]), dealt.ranks) * dealt.tables + t]++);
    }
  }
}

template <typename Key>
Dealt deal(std::span<const IdList> lists, std::size_t ranks, std::size_t tables, Key&& key) {
  Dealt dealt(ranks, tables);
  for (std::size_t t = 0; t < lists.size(); ++t) {
    for (const std::uint32_t id : lists[t].ids) {
      ++dealt.counts[owner_of(key(id), ranks) * tables + t];
    }
  }
  return dealt;
}

std::uint32_t saturated(std::uint64_t count) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max()));
}

void add_entries(IdTable& table, std::span<const std::uint32_t> entries) {
  constexpr std::size_t width = 3;
  constexpr std::size_t ahead = 8 * width;
  for (std::size_t i = 0; i < entries.size(); i += width) {
    if (i + ahead < entries.size()) {
      table.prefetch(entries[i + ahead]);
    }
    IdEntry& entry = table.find_or_add(entries[i]);
    entry.value = entry.count == 0 ? entries[i + 2] : entry.value;
    entry.count = saturated(std::uint64_t{entry.count} + entries[i + 1]);
  }
}

}  // namespace

const char* DictionaryRule::name() const {
  constexpr const char* names[] = {"first", "frequency", "hash", "none"};
  return names[static_cast<std::size_t>(kind)];
}

Dictionary::Dictionary(const Communicator& comm, std::size_t tables, DictionaryRule rule)
    : rule_(rule),
      tables_(tables, IdTable(true, static_cast<std::uint32_t>(comm.size()))),
      new_share_(tables),
      come_(tables) {}

std::uint32_t Dictionary::key_of(std::uint32_t id) const {
  return rule_.kind == DictionaryRule::Kind::hash
             ? static_cast<std::uint32_t>(1 + miniapps::mix_counter(id) % (rule_.hash_rows - 1))
             : id;
}

void Dictionary::add(const Communicator& comm, std::span<const IdList> lists, std::span<const std::uint64_t> keys) {
  const auto key = [&](std::uint32_t id) { return key_of(id); };
  Dealt out = deal(lists, static_cast<std::size_t>(comm.size()), tables_.size(), key);
  send_.resize(3 * out.size());
  for_each_id(lists, out, key, [&](std::size_t t, std::size_t i, std::size_t at) {
    send_[3 * at] = key(lists[t].ids[i]);
    send_[3 * at + 1] = lists[t].counts[i];
    send_[3 * at + 2] = static_cast<std::uint32_t>(lists[t].first_key + i);
  });
  const Dealt in = exchange_counts(comm, out);
  exchange(comm, out, send_, in, 3, received_);
  for (std::size_t i = 0; i < in.counts.size(); ++i) {
    const std::size_t t = i % in.tables;
    reserve(t, keys[t] / in.ranks, in.counts[i]);
    const std::size_t before = tables_[t].size();
    add_entries(tables_[t], std::span(received_).subspan(3 * in.places[i], 3 * in.counts[i]));
    come_[t] += in.counts[i];
    if (before > 0 && in.counts[i] > 0) {
      new_share_[t] = static_cast<double>(tables_[t].size() - before) / static_cast<double>(in.counts[i]);
    }
  }
}

/// Where most ids are new, room for those that are still to come saves steps of growth.
void Dictionary::reserve(std::size_t t, std::uint64_t keys, std::uint64_t next) {
  constexpr double most = 0.5;
  IdTable& table = tables_[t];
  if (table.size() == 0) {
    table.reserve(next);  // the ids of a list are different
  } else if (new_share_[t] > most && keys > come_[t]) {
    const double coming = new_share_[t] * static_cast<double>(keys - come_[t]);
    table.reserve(table.size() + static_cast<std::size_t>(coming));
  }
}

std::vector<std::vector<std::uint32_t>> Dictionary::rows(const Communicator& comm,
                                                         std::span<const IdList> lists) const {
  constexpr std::size_t ahead = 8;
  const auto key = [&](std::uint32_t id) { return key_of(id); };
  Dealt out = deal(lists, static_cast<std::size_t>(comm.size()), tables_.size(), key);
  std::vector<std::uint32_t> asked(out.size());
  for_each_id(lists, out, key, [&](std::size_t t, std::size_t i, std::size_t at) { asked[at] = key(lists[t].ids[i]); });
  const Dealt in = exchange_counts(comm, out);
  std::vector<std::uint32_t> ids;
  exchange(comm, out, asked, in, 1, ids);
  for (std::size_t i = 0; i < in.counts.size(); ++i) {
    const IdTable& table = tables_[i % in.tables];
    const auto part = std::span(ids).subspan(in.places[i], in.counts[i]);
    for (std::size_t k = 0; k < part.size(); ++k) {
      table.prefetch(part[std::min(k + ahead, part.size() - 1)]);
      part[k] = table.at(part[k]).value;
    }
  }
  std::vector<std::uint32_t> answers;
  exchange(comm, in, ids, out, 1, answers);
  std::vector<std::vector<std::uint32_t>> found(lists.size());
  for (std::size_t t = 0; t < lists.size(); ++t) {
    found[t].resize(lists[t].ids.size());
  }
  for_each_id(lists, out, key, [&](std::size_t t, std::size_t i, std::size_t at) { found[t][i] = answers[at]; });
  return found;
}

Dictionary::Share Dictionary::share(const Communicator& comm, std::size_t table, std::uint64_t ids) const {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const std::uint64_t block = std::max<std::uint64_t>((ids + ranks - 1) / ranks, 1);
  Dealt out(ranks, 1);
  const auto for_each = [&](auto&& use) {
    for (const IdEntry& entry : tables_[table].entries()) {
      if (entry.count > 0 && !is_rare(entry)) {
        use(static_cast<std::size_t>((entry.value - first_row()) / block), entry);
      }
    }
  };
  for_each([&](std::size_t rank, const IdEntry&) { ++out.counts[rank]; });
  out.begin();
  std::vector<std::uint32_t> send(2 * out.size());
  for_each([&](std::size_t rank, const IdEntry& entry) {
    const std::size_t at = 2 * out.places[rank]++;
    send[at] = entry.value - first_row();
    send[at + 1] = entry.id;
  });
  const Dealt in = exchange_counts(comm, out);
  std::vector<std::uint32_t> received;
  exchange(comm, out, send, in, 2, received);
  Share mine{std::min(block * static_cast<std::uint64_t>(comm.rank()), ids), {}};
  mine.ids.resize(received.size() / 2);
  for (std::size_t i = 0; i < received.size(); i += 2) {
    mine.ids[received[i] - mine.first] = received[i + 1];
  }
  return mine;
}

std::size_t Dictionary::bytes() const {
  return std::accumulate(tables_.begin(), tables_.end(), std::size_t{0},
                         [](std::size_t sum, const IdTable& table) { return sum + table.bytes(); });
}

std::size_t Dictionary::size() const {
  return std::accumulate(tables_.begin(), tables_.end(), std::size_t{0},
                         [](std::size_t sum, const IdTable& table) { return sum + table.size(); });
}

}  // namespace tutti::data
