// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/occurrences.hpp"
#include "kernels/device/tables.hpp"
#include "kernels/device/winners.hpp"
#include "kernels/row_arithmetic.hpp"

/// Updates rows from their sorted occurrences: one warp per row, and one block per row that occurs often, as all rows
/// of a small table do. Both add in the order of the occurrences.
namespace tutti::kernels::device {

/// The arguments that all tables of a launch share.
struct UpdateJob {
  const TableJob* jobs;
  std::size_t tables;  ///< tables of the group, neighbours in `jobs`
  std::size_t bags;
  Occurrences occurrences;
  UpdateRule rule;
  std::uint64_t noise_key;  ///< TableNoise::step_key
  bool stochastic;
  bool finds_squares;  ///< only writes TableJob::squares (row-wise Adagrad)
  const IndexStatus* guard;
  Winners winners;
  std::uint32_t* often;  ///< the number of rows that occur often, then the first occurrence of each; null: no block's
};

/// A row with more occurrences is a block's.
inline constexpr std::size_t warp_occurrences = 256;
/// Words of UpdateJob::often for `count` occurrences.
[[nodiscard]] constexpr std::size_t often_words(std::size_t count) { return 1 + count / (warp_occurrences + 1); }

/// Launches the update of the rows of one group, in stream order.
void update_rows(const UpdateJob& update, const TableGroup& group, RowOptimizer optimizer, StreamHandle stream);

}  // namespace tutti::kernels::device
