// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tutti::detail {

/// a / b, rounded up. Does not overflow.
[[nodiscard]] constexpr std::size_t ceil_div(std::size_t a, std::size_t b) { return a / b + (a % b != 0 ? 1 : 0); }
/// The least multiple of `unit` that is not below n.
[[nodiscard]] constexpr std::size_t round_up(std::size_t n, std::size_t unit) { return ceil_div(n, unit) * unit; }

}  // namespace tutti::detail
