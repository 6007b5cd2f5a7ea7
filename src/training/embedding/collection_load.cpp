// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tutti/error.hpp>
#include <vector>

#include "training/embedding/collection_state.hpp"

namespace tutti {

namespace {

std::size_t count_indices(const kernels::TableLookups& lookups, std::size_t bags) {
  return static_cast<std::size_t>(lookups.offsets[bags] - lookups.offsets[0]);
}

template <typename Index>
std::size_t count_distinct(const kernels::TableLookups& lookups, std::size_t bags, std::int64_t rows) {
  const auto* indices = static_cast<const Index*>(lookups.indices);
  std::vector<bool> is_seen(static_cast<std::size_t>(rows));
  std::size_t distinct = 0;
  for (std::int64_t p = lookups.offsets[0]; p < lookups.offsets[bags]; ++p) {
    auto seen = is_seen[static_cast<std::size_t>(indices[p])];
    distinct += seen ? 0 : 1;
    seen = true;
  }
  return distinct;
}

}  // namespace

RankLoad EmbeddingCollection::batch_load(std::size_t slot) const {
  const auto& slots = state_->slots;
  if (slot >= slots.size() || slots[slot]->stage == detail::BatchStage::none || !slots[slot]->input.readable()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("EmbeddingCollection::batch_load: slot {} has no batch whose input is complete; call it "
                            "between look_up() and update()",
                            slot));
  }
  const detail::BatchLookups& lookups = slots[slot]->input.lookups();
  const auto& facts = state_->facts;
  const std::size_t batch = slots[slot]->input.batch();
  const std::size_t own = facts.slice(batch).size();
  RankLoad load;
  load.bytes = bytes();
  for (std::size_t i = 0; i < facts.pieces().size() && batch > 0; ++i) {
    const bool reads_own = facts.pieces()[i].replica;
    const std::int64_t rows = facts.pieces()[i].shard.rows();
    if (!reads_own) load.lookups += static_cast<double>(count_indices(lookups.all(i), batch));
    if (reads_own && own > 0) load.lookups += static_cast<double>(count_indices(lookups.own(i), own));
    load.distinct_rows += static_cast<double>(lookups.type() == kernels::IndexType::int32
                                                  ? count_distinct<std::int32_t>(lookups.all(i), batch, rows)
                                                  : count_distinct<std::int64_t>(lookups.all(i), batch, rows));
  }
  return load;
}

}  // namespace tutti
