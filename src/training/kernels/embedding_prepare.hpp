// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "training/kernels/embedding_scatter.hpp"

/// Shared by updates and sums of squares: checks, and the occurrences of every row of a table.
namespace tutti::kernels {

/// The arguments that both functions take.
struct ScatterCall {
  const char* function;
  std::span<const EmbeddingTable> tables;
  std::span<const TableLookups> lookups;
  IndexType index_type;
  std::size_t bags;
  std::span<const Pooled<const float>> gradients;
  const EmbeddingOptions& options;
};

/// Throws tutti::Error for invalid arguments.
void check_scatter(const ScatterCall& call);

/// Allocates scratch for the partitions of the call and returns their number.
std::size_t prepare_partitions(const ScatterCall& call, EmbeddingWorkspace::Scratch& scratch);

/// Partition p's part of a table's work.
ScatterJob partition_of(const ScatterJob& whole, std::size_t partitions, std::size_t p);

/// Groups the occurrences of all rows of table t, by partitions of rows, into scratch.partitions[p].occurrences.
ScatterJob group_table(const ScatterCall& call, std::size_t t, std::size_t partitions, GroupOrder order,
                       EmbeddingWorkspace::Scratch& scratch);

}  // namespace tutti::kernels
