// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "schedules/problem.hpp"

namespace tutti::schedules {

/// The counts that a rank tells the others of its node: its row of Problem::told.
[[nodiscard]] inline std::vector<std::size_t> told_row(Operation operation, const Problem& p) {
  if (traits_of(operation).given == BlockKind::own) return {p.send_count};
  if (traits_of(operation).taken == BlockKind::own) return {p.recv_count};
  std::vector<std::size_t> row(p.send_counts.begin(), p.send_counts.end());
  row.insert(row.end(), p.recv_counts.begin(), p.recv_counts.end());
  return row;
}

}  // namespace tutti::schedules
