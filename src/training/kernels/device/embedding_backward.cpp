// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <tutti/error.hpp>

#include "training/kernels/device/update_rows.hpp"
#include "training/kernels/embedding_common.hpp"
#include "training/kernels/embedding_squares.hpp"
#include "training/kernels/row_noise.hpp"

namespace tutti::kernels::device {

namespace {

/// What both functions are given.
struct BackwardCall {
  const char* name;
  std::span<const EmbeddingTable> tables;
  std::span<const TableLookups> lookups;
  IndexType index_type;
  std::size_t bags;
  std::size_t indices;
  std::span<const Pooled<const float>> gradients;
  std::span<float* const> states;
  const RowUpdate& update;
  const EmbeddingOptions& options;
  const IndexStatus* status;
  std::span<double* const> squares;
  bool finds_squares;
};

[[noreturn]] void refuse(const BackwardCall& call, const std::string& what) {
  throw Error(ErrorCode::invalid_argument, std::string(call.name) + ": " + what);
}

void check_squares(const BackwardCall& call) {
  if (!call.squares.empty() && call.squares.size() != call.tables.size()) {
    refuse(call, "squares has " + std::to_string(call.squares.size()) + " entries for " +
                     std::to_string(call.tables.size()) + " tables");
  }
  for (std::size_t t = 0; t < call.tables.size(); ++t) {
    const bool is_needed = call.finds_squares || columns_sharded(call.tables[t]);
    if (!is_needed || (!call.squares.empty() && call.squares[t] != nullptr)) continue;
    refuse(call, "table " + std::to_string(t) +
                     " has no squares; row-wise Adagrad on sharded columns needs the sums of embedding_row_squares, "
                     "added over the shards");
  }
}

void check_update(const BackwardCall& call) {
  constexpr std::uint64_t limit = 0xffffffffU;
  const RowUpdate& update = call.update;
  const bool has_state = update.optimizer != RowOptimizer::sgd && !call.finds_squares;
  if (has_state && call.states.size() != call.tables.size()) {
    refuse(call, "states has " + std::to_string(call.states.size()) + " entries for " +
                     std::to_string(call.tables.size()) + " tables; all optimizers except sgd need one per table");
  }
  if (update.optimizer == RowOptimizer::adam && update.step == 0) refuse(call, "update.step is 0; steps count from 1");
  std::uint64_t rows = 0;
  for (const EmbeddingTable& table : call.tables) rows += static_cast<std::uint64_t>(table.rows);
  if (rows >= limit || call.indices >= limit || call.bags >= limit) {
    refuse(call,
           "all tables together have 2^32 - 1 or more rows or indices, or there are as many bags; split the tables or "
           "the batch");
  }
  if (update.optimizer == RowOptimizer::row_wise_adagrad) check_squares(call);
}

TableList list_of(const BackwardCall& call) {
  std::vector<Pooled<float>> pooled;
  for (const auto& gradient : call.gradients) pooled.push_back({const_cast<float*>(gradient.data), gradient.stride});
  TableList list = list_tables(call.name, call.tables, call.lookups, pooled, call.states, true);
  if (call.update.optimizer != RowOptimizer::row_wise_adagrad || call.squares.empty()) return list;
  for (TableJob& job : list.jobs) job.squares = call.squares[job.number];
  return list;
}

/// Groups follow one another and use the same memory, but for the counts, of which each has its own.
OftenRows often_rows(std::size_t indices, const TableList& list, Workspace::Scratch& scratch, StreamHandle stream) {
  std::size_t dim = 0;
  for (const TableGroup& group : list.groups) dim = std::max(dim, group.dim);
  const std::size_t parts = most_row_parts(indices);
  const std::size_t counts = list.groups.size() * OftenRows::counts_of_group;
  std::uint32_t* const none = scratch.array<std::uint32_t>(ScratchUse::often_counts, counts, stream);
  pooled_memory::required_runtime("device kernels").fill_zero(none, counts * sizeof(std::uint32_t), stream);
  return {none, scratch.array<OftenRow>(ScratchUse::often_rows, most_often_rows(indices), stream),
          scratch.array<RowPart>(ScratchUse::row_parts, parts, stream),
          scratch.array<float>(ScratchUse::part_sums, most_often_rows(indices) > 0 ? parts * dim : 0, stream)};
}

void run(const BackwardCall& call, Workspace& workspace, Stream stream) {
  check_update(call);
  const TableList list = list_of(call);
  const IndexStatus* guard = guard_of(call.name, call.options, call.status);
  if (call.tables.empty() || call.bags == 0 || call.indices == 0) return;
  check_row_length(call.name, list, call.update.optimizer);
  const StreamHandle handle = handle_of(stream);
  auto& scratch = entered(workspace, handle);
  const TableJob* jobs = scratch.upload(list.jobs, handle);
  const auto any = [](const auto& all, const auto& is) { return std::any_of(all.begin(), all.end(), is); };
  const bool weighted = any(call.lookups, [](const TableLookups& each) { return each.weights != nullptr; });
  const bool has_squares = any(list.jobs, [](const TableJob& job) { return job.squares != nullptr; });
  const Winners winners = find_winners({list, jobs, call.index_type, call.bags, call.options, guard}, scratch, handle);
  // Which index of its bag an occurrence is, is known by its slot.
  const bool by_slots = weighted || has_squares || winners.positions != nullptr;
  const Occurrences occurrences = sort_occurrences(
      {list, jobs, call.index_type, call.bags, call.indices, call.options, guard, by_slots}, scratch, handle);
  OftenRows often = often_rows(call.indices, list, scratch, handle);
  for (const TableGroup& group : list.groups) {
    if (group.dim == 0) continue;
    const UpdateJob job{jobs + group.first,
                        group.count,
                        call.bags,
                        occurrences,
                        UpdateRule(call.update),
                        TableNoise::step_key(call.update),
                        call.update.rounding == Rounding::stochastic,
                        call.finds_squares,
                        guard,
                        winners,
                        often};
    update_rows(job, group, call.update.optimizer, handle);
    often.counts += OftenRows::counts_of_group;
  }
}

}  // namespace

void embedding_bag_backward(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                            IndexType index_type, std::size_t bags, std::size_t indices,
                            std::span<const Pooled<const float>> gradients, std::span<float* const> states,
                            const RowUpdate& update, const EmbeddingOptions& options, const IndexStatus* status,
                            Workspace& workspace, Stream stream, std::span<double* const> squares) {
  run({"device::embedding_bag_backward", tables, lookups, index_type, bags, indices, gradients, states, update, options,
       status, squares, false},
      workspace, stream);
}

void embedding_row_squares(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                           IndexType index_type, std::size_t bags, std::size_t indices,
                           std::span<const Pooled<const float>> gradients, const EmbeddingOptions& options,
                           const IndexStatus* status, Workspace& workspace, Stream stream,
                           std::span<double* const> squares) {
  const RowUpdate update{.optimizer = RowOptimizer::row_wise_adagrad};
  run({"device::embedding_row_squares",
       tables,
       lookups,
       index_type,
       bags,
       indices,
       gradients,
       {},
       update,
       options,
       status,
       squares,
       true},
      workspace, stream);
}

}  // namespace tutti::kernels::device
