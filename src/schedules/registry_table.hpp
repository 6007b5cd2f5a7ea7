// SPDX-License-Identifier: BSD-3-Clause
// Shared by the tables of flat and of hierarchical algorithms.
#pragma once

#include <algorithm>
#include <span>

#include "schedules/registry.hpp"

namespace tutti::schedules {

/// Promises of an algorithm that combines: the order of ranks, and one rounding of each element.
enum class Keeps : std::uint8_t { nothing, order, order_and_rounding };
inline constexpr auto order = Keeps::order;
inline constexpr auto once = Keeps::order_and_rounding;

[[nodiscard]] constexpr Algorithm keeping(Keeps keeps, Algorithm algorithm) {
  algorithm.ordered = keeps != Keeps::nothing;
  algorithm.single_combine = keeps == Keeps::order_and_rounding;
  return algorithm;
}

/// The rows of one operation, which follow one another in a table.
[[nodiscard]] inline std::span<const Algorithm> rows_of(Operation operation, std::span<const Algorithm> table) {
  const auto is_of = [operation](const Algorithm& algorithm) { return algorithm.operation == operation; };
  const auto first = std::find_if(table.begin(), table.end(), is_of);
  return {first, std::find_if_not(first, table.end(), is_of)};
}

}  // namespace tutti::schedules
