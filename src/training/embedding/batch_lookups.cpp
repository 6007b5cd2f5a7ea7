// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/batch_lookups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tutti::detail {

namespace {

std::optional<Fault> find_shape_fault(const CollectionFacts& facts, const EmbeddingInput& input) {
  if (!input.error.empty()) return Fault{ErrorCode::invalid_argument, std::string(input.error)};
  if (input.tables.size() != facts.tables.size()) {
    return Fault{ErrorCode::invalid_argument,
                 fmt::format("embedding input on rank {}: it has the bags of {} tables, but the collection has {}",
                             facts.rank, input.tables.size(), facts.tables.size())};
  }
  if (input.batch > facts.options.max_batch) {
    return Fault{ErrorCode::invalid_argument,
                 fmt::format("embedding input on rank {}: the batch has {} samples, but max_batch is {}", facts.rank,
                             input.batch, facts.options.max_batch)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Fault> find_fault(const CollectionFacts& facts, const EmbeddingInput& input) {
  if (auto fault = find_shape_fault(facts, input)) return fault;
  const bool local = input.layout == InputLayout::local;
  const SampleSlice slice = facts.slice(input.batch);
  const std::size_t bags = local ? slice.size() : input.batch;
  for (std::size_t t = 0; t < facts.tables.size() && bags > 0; ++t) {
    if (!local && !facts.needs(t)) continue;
    const auto& lookups = input.tables[t];
    const auto fail = [&](std::string_view what) {
      return Fault{ErrorCode::invalid_argument, fmt::format("embedding input on rank {}: table {} '{}': {}", facts.rank,
                                                            t, facts.tables[t].name, what)};
    };
    if (lookups.offsets == nullptr) return fail("offsets are missing");
    const std::int64_t* const ascending = std::is_sorted_until(lookups.offsets, lookups.offsets + bags + 1);
    if (ascending != lookups.offsets + bags + 1)
      return fail(fmt::format("offsets descend at entry {}; they must ascend", ascending - lookups.offsets));
    if (lookups.indices == nullptr && lookups.offsets[bags] > lookups.offsets[0]) return fail("indices are missing");
    if (lookups.weights != nullptr && facts.tables[t].pooling == kernels::Pooling::max)
      return fail("weights do not go with max pooling");
    if (lookups.weights != nullptr && local && !facts.options.weighted)
      return fail("weights with InputLayout::local need EmbeddingCollectionOptions::weighted");
    if (facts.options.policy != kernels::IndexPolicy::fatal) continue;
    kernels::EmbeddingTable table;
    table.rows = facts.tables[t].rows;
    auto violation = kernels::check_indices({&table, 1}, {&lookups, 1}, input.index_type, bags);
    if (!violation) continue;
    violation->table = t;
    violation->bag += local ? slice.begin : 0;
    return Fault{ErrorCode::index_out_of_range, violation->text()};
  }
  return std::nullopt;
}

BatchLookups::BatchLookups(const CollectionFacts& facts)
    : facts_(&facts),
      all_(facts.pieces().size()),
      own_(facts.pieces().size()),
      selected_all_(facts.pieces().size()),
      selected_own_(facts.pieces().size()),
      counts_(facts.tables.size()) {}

LookupSelection BatchLookups::selection(std::size_t table, const TableRows& kept) const {
  LookupSelection s;
  s.rows = facts_->tables[table].rows;
  s.kept = kept;
  s.policy = facts_->options.policy;
  return s;
}

kernels::TableLookups BatchLookups::select(const kernels::TableLookups& from, const LookupSelection& selection,
                                           OwnedLookups& to) const {
  to.clear();
  select_lookups(from, type_, selection, to);
  to.set_offsets();
  return to.view(selection.weighted);
}

void BatchLookups::count(const kernels::TableLookups& from, std::size_t t, std::size_t first_bag, std::size_t bags) {
  auto& counts = counts_[t];
  counts.resize(bags);
  LookupSelection s = selection(t, {0, facts_->tables[t].rows});
  if (s.policy == kernels::IndexPolicy::ignore) {
    s.first_bag = first_bag;
    s.bags = bags;
    counted_.clear();
    select_lookups(from, type_, s, counted_);
  }
  for (std::size_t b = 0; b < bags; ++b) {
    const std::int64_t length = s.policy == kernels::IndexPolicy::ignore
                                    ? counted_.lengths[b]
                                    : from.offsets[first_bag + b + 1] - from.offsets[first_bag + b];
    counts[b] = length > 0 ? static_cast<float>(length) : 1.0F;
  }
}

void BatchLookups::take_own(const EmbeddingInput& input, std::size_t first_bag) {
  type_ = input.index_type;
  const std::size_t bags = facts_->slice(input.batch).size();
  for (std::size_t t = 0; t < facts_->tables.size(); ++t) {
    if (facts_->divides_mean(t)) count(input.tables[t], t, first_bag, bags);
  }
  const auto& pieces = facts_->pieces();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].replica || bags == 0) continue;
    const auto& from = input.tables[pieces[i].shard.table];
    if (facts_->options.policy == kernels::IndexPolicy::fatal) {
      own_[i] = {from.indices, from.offsets + first_bag, from.weights};
      continue;
    }
    LookupSelection s = selection(pieces[i].shard.table, pieces[i].shard.table_rows());
    s.first_bag = first_bag;
    s.bags = bags;
    s.weighted = from.weights != nullptr;
    own_[i] = select(from, s, selected_own_[i]);
  }
}

void BatchLookups::take_global(const EmbeddingInput& input) {
  take_own(input, facts_->slice(input.batch).begin);
  const auto& pieces = facts_->pieces();
  for (std::size_t i = 0; i < pieces.size() && input.batch > 0; ++i) {
    const TableShard& shard = pieces[i].shard;
    const auto& from = input.tables[shard.table];
    const bool as_it_is =
        facts_->options.policy == kernels::IndexPolicy::fatal && shard.rows() == facts_->tables[shard.table].rows;
    if (as_it_is) {
      all_[i] = from;
      continue;
    }
    LookupSelection s = selection(shard.table, shard.table_rows());
    s.bags = input.batch;
    s.weighted = from.weights != nullptr;
    all_[i] = select(from, s, selected_all_[i]);
  }
}

}  // namespace tutti::detail
