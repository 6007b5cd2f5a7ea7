// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace tutti::commbench {

/// Elements of blocks, one for each rank.
using Counts = std::vector<std::size_t>;

/// Where blocks begin that follow one another.
[[nodiscard]] inline Counts starts_of(const Counts& counts) {
  Counts starts(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), std::size_t{0});
  return starts;
}

[[nodiscard]] inline std::size_t sum_of(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

[[nodiscard]] inline std::size_t at(const Counts& counts, int rank) { return counts[static_cast<std::size_t>(rank)]; }

}  // namespace tutti::commbench
