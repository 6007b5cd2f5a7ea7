// SPDX-License-Identifier: BSD-3-Clause
#include "training/kernels/embedding_squares.hpp"

#include <tutti/error.hpp>

#include "kernels/parallel.hpp"
#include "training/kernels/embedding_prepare.hpp"
#include "training/kernels/row_update.hpp"

namespace tutti::kernels {

namespace {

void find_squares(const ScatterJob& job, PartitionScratch& own) {
  own.squares.rows.clear();
  own.squares.sums.clear();
  visit_dim(job.table.dim, [&]<std::size_t Dim>(std::integral_constant<std::size_t, Dim>) {
    for_each_row<Dim>(
        job, own.occurrences, own.gradient, []<CacheLevel>(std::uint32_t) {},
        [&](std::uint32_t row, const float* gradient) {
          own.squares.rows.push_back(static_cast<std::uint32_t>(job.first_row + row));
          own.squares.sums.push_back(sum_of_squares(gradient, job.table.dim));
        });
  });
}

}  // namespace

void embedding_row_squares(std::span<const EmbeddingTable> tables, std::span<const TableLookups> lookups,
                           IndexType index_type, std::size_t bags, std::span<const Pooled<const float>> gradients,
                           const EmbeddingOptions& options, EmbeddingWorkspace& workspace,
                           std::span<RowSquares> squares) {
  const ScatterCall call{"embedding_row_squares", tables, lookups, index_type, bags, gradients, options};
  check_scatter(call);
  if (squares.size() != tables.size()) {
    throw Error(ErrorCode::invalid_argument, "embedding_row_squares: squares has " + std::to_string(squares.size()) +
                                                 " entries for " + std::to_string(tables.size()) + " tables");
  }
  auto& scratch = workspace.scratch();
  const std::size_t partitions = prepare_partitions(call, scratch);
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const ScatterJob whole = group_table(call, t, partitions, GroupOrder::ascending, scratch);
    for_each_partition(partitions,
                       [&](std::size_t p) { find_squares(partition_of(whole, partitions, p), scratch.partitions[p]); });
    squares[t].rows.clear();
    squares[t].sums.clear();
    for (std::size_t p = 0; p < partitions; ++p) {
      const RowSquares& part = scratch.partitions[p].squares;
      squares[t].rows.insert(squares[t].rows.end(), part.rows.begin(), part.rows.end());
      squares[t].sums.insert(squares[t].sums.end(), part.sums.begin(), part.sums.end());
    }
  }
}

}  // namespace tutti::kernels
