// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "training/kernels/embedding_scatter.hpp"
#include "training/kernels/row_noise.hpp"
#include "training/kernels/row_update.hpp"

/// Applies row gradients to the rows of one table.
namespace tutti::kernels {

struct ApplyJob {
  ScatterJob scatter;
  float* state;
  const UpdateRule& rule;
  const TableNoise* noise;  ///< null: round to nearest
  const double* sums;       ///< sums of g^2 over whole rows, one per row of the partition in ascending order, or null
};

/// Updates the rows of the job from their grouped occurrences. One function per type of rows; defined for float,
/// bfloat16_t, float16_t and std::uint8_t.
template <typename Stored>
void apply_rows(const ApplyJob& job, RowOptimizer optimizer, PartitionScratch& own);

}  // namespace tutti::kernels
