// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/occurrences.hpp"
#include "kernels/device/tables.hpp"
#include "kernels/row_arithmetic.hpp"

/// Updates rows from their sorted occurrences, one warp per row.
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
  const IndexStatus* guard;
};

/// Launches the update of the rows of one group, in stream order.
void update_rows(const UpdateJob& update, const TableGroup& group, RowOptimizer optimizer, StreamHandle stream);

}  // namespace tutti::kernels::device
