// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/error.hpp>
#include <tutti/kernels/embedding_backward.hpp>

#include "kernels/parallel.hpp"
#include "training/kernels/embedding_apply.hpp"
#include "training/kernels/embedding_prepare.hpp"
#include "training/kernels/embedding_squares.hpp"

namespace tutti::kernels {

EmbeddingWorkspace::EmbeddingWorkspace() : scratch_(std::make_unique<Scratch>()) {}
EmbeddingWorkspace::~EmbeddingWorkspace() = default;
EmbeddingWorkspace::EmbeddingWorkspace(EmbeddingWorkspace&&) noexcept = default;
EmbeddingWorkspace& EmbeddingWorkspace::operator=(EmbeddingWorkspace&&) noexcept = default;

std::size_t row_state_values(RowOptimizer optimizer, std::size_t dim) {
  switch (optimizer) {
    case RowOptimizer::adagrad:
      return dim;
    case RowOptimizer::row_wise_adagrad:
      return 1;
    case RowOptimizer::adam:
      return 2 * dim;
    default:
      return 0;
  }
}

namespace {

constexpr const char* name = "embedding_bag_backward";

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, std::string(name) + ": " + what);
}

void check_update(const ScatterCall& call, std::span<float* const> states, const RowUpdate& update,
                  std::span<const RowSquares> squares) {
  if (update.optimizer != RowOptimizer::sgd && states.size() != call.tables.size()) {
    refuse("states has " + std::to_string(states.size()) + " entries for " + std::to_string(call.tables.size()) +
           " tables; all optimizers except sgd need one per table");
  }
  if (update.optimizer == RowOptimizer::adam && update.step == 0) refuse("update.step is 0; steps count from 1");
  if (update.optimizer != RowOptimizer::row_wise_adagrad) return;
  for (std::size_t t = 0; t < call.tables.size(); ++t) {
    if (!columns_sharded(call.tables[t])) continue;
    if (squares.size() != call.tables.size() || squares[t].rows.size() != squares[t].sums.size()) {
      refuse("tables[" + std::to_string(t) + "] has " + std::to_string(call.tables[t].dim) + " of " +
             std::to_string(call.tables[t].place.whole_columns) +
             " columns; row-wise Adagrad needs the sums of embedding_row_squares, added over its shards, in squares");
    }
  }
}

/// Throws unless the sums belong to the grouped rows.
void check_rows(const RowSquares& squares, const ScatterJob& whole, std::size_t partitions, std::size_t t,
                const EmbeddingWorkspace::Scratch& scratch) {
  bool same = first_square(squares, whole.last_row) == squares.rows.size();
  for (std::size_t p = 0; same && p < partitions; ++p) {
    same = has_rows(squares, partition_of(whole, partitions, p), scratch.partitions[p].occurrences);
  }
  if (same) return;
  refuse("squares[" + std::to_string(t) +
         "] has other rows than the lookups; pass the rows that embedding_row_squares found for the same lookups");
}

}  // namespace

void embedding_bag_backward(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                            IndexType index_type, std::size_t bags, std::span<const Pooled<const float>> gradients,
                            std::span<float* const> states, const RowUpdate& update, const EmbeddingOptions& options,
                            EmbeddingWorkspace& workspace, std::span<const RowSquares> squares) {
  const ScatterCall call{name, tables, lookups, index_type, bags, gradients, options};
  check_scatter(call);
  check_update(call, states, update, squares);
  auto& scratch = workspace.scratch();
  const std::size_t partitions = prepare_partitions(call, scratch);
  const UpdateRule rule(update);
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const bool sums_given = update.optimizer == RowOptimizer::row_wise_adagrad && columns_sharded(tables[t]);
    const GroupOrder order = sums_given ? GroupOrder::ascending : GroupOrder::any;
    const ScatterJob whole = group_table(call, t, partitions, order, scratch);
    if (sums_given) check_rows(squares[t], whole, partitions, t, scratch);
    const TableNoise noise(update, tables[t].place);
    for_each_partition(partitions, [&](std::size_t p) {
      const ScatterJob scatter = partition_of(whole, partitions, p);
      const double* sums = sums_given ? squares[t].sums.data() + first_square(squares[t], scatter.first_row) : nullptr;
      const ApplyJob job{scatter, states.empty() ? nullptr : states[t], rule,
                         update.rounding == Rounding::stochastic ? &noise : nullptr, sums};
      visit_row(tables[t].type,
                [&]<typename Stored>(Stored*) { apply_rows<Stored>(job, update.optimizer, scratch.partitions[p]); });
    });
  }
}

}  // namespace tutti::kernels
