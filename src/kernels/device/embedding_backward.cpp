// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <tutti/error.hpp>

#include "kernels/device/update_rows.hpp"
#include "kernels/embedding_common.hpp"
#include "kernels/row_noise.hpp"

namespace tutti::kernels::device {

namespace {

constexpr const char* name = "device::embedding_bag_backward";

[[noreturn]] void refuse(ErrorCode code, const std::string& what) {
  throw Error(code, std::string(name) + ": " + what);
}

void check_update(std::span<const EmbeddingTable> tables, std::span<float* const> states, const RowUpdate& update,
                  std::size_t indices) {
  constexpr std::uint64_t limit = 0xffffffffU;
  if (update.optimizer != RowOptimizer::sgd && states.size() != tables.size()) {
    refuse(ErrorCode::invalid_argument, "states has " + std::to_string(states.size()) + " entries for " +
                                            std::to_string(tables.size()) +
                                            " tables; all optimizers except sgd need one per table");
  }
  if (update.optimizer == RowOptimizer::adam && update.step == 0) {
    refuse(ErrorCode::invalid_argument, "update.step is 0; steps count from 1");
  }
  std::uint64_t rows = 0;
  for (const EmbeddingTable& table : tables) {
    rows += static_cast<std::uint64_t>(table.rows);
    const std::size_t whole = table.place.whole_columns;
    if (update.optimizer == RowOptimizer::row_wise_adagrad && whole != 0 && whole != table.dim) {
      refuse(ErrorCode::not_supported,
             "row-wise Adagrad on sharded columns has no kernel for device memory; shard rows or whole tables");
    }
  }
  if (rows >= limit || indices >= limit) {
    refuse(ErrorCode::invalid_argument,
           "all tables together have 2^32 - 1 or more rows or indices; split the tables or the batch");
  }
}

}  // namespace

void embedding_bag_backward(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                            IndexType index_type, std::size_t bags, std::size_t indices,
                            std::span<const Pooled<const float>> gradients, std::span<float* const> states,
                            const RowUpdate& update, const EmbeddingOptions& options, const IndexStatus* status,
                            Workspace& workspace, Stream stream) {
  check_update(tables, states, update, indices);
  std::vector<Pooled<float>> pooled;
  for (const auto& gradient : gradients) pooled.push_back({const_cast<float*>(gradient.data), gradient.stride});
  const TableList list = list_tables(name, tables, lookups, pooled, states, true);
  const IndexStatus* guard = guard_of(name, options, status);
  if (tables.empty() || bags == 0 || indices == 0) return;
  auto& scratch = workspace.scratch();
  const StreamHandle handle = handle_of(stream);
  const TableJob* jobs = scratch.upload(list.jobs, handle);
  const bool weighted =
      std::any_of(lookups.begin(), lookups.end(), [](const TableLookups& each) { return each.weights != nullptr; });
  const Winners winners = find_winners({list, jobs, index_type, bags, options, guard}, scratch, handle);
  // Which index of its bag an occurrence is, is known by its slot.
  const bool by_slots = weighted || winners.positions != nullptr;
  const OccurrenceCall call{list, jobs, index_type, bags, indices, options, guard, by_slots};
  const Occurrences occurrences = sort_occurrences(call, scratch, handle);
  for (const TableGroup& group : list.groups) {
    if (group.dim == 0) continue;
    const UpdateJob job{jobs + group.first,
                        group.count,
                        bags,
                        occurrences,
                        UpdateRule(update),
                        TableNoise::step_key(update),
                        update.rounding == Rounding::stochastic,
                        guard,
                        winners,
                        scratch.array<std::uint32_t>(ScratchUse::often, often_words(indices), handle)};
    update_rows(job, group, update.optimizer, handle);
  }
}

}  // namespace tutti::kernels::device
