// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace tutti::detail {

/// The places where this process may run, as plain bytes to exchange: hwloc's logical indices (-1: no single object)
/// and the set of processing units.
struct LocalPlace {
  static constexpr int most_units = 2048;
  using Units = std::array<std::uint64_t, most_units / 64>;
  std::int32_t numa = -1;
  std::int32_t l3 = -1;
  std::int32_t core = -1;
  std::int32_t socket = -1;
  Units units{};
  std::uint64_t kernel = 0;  ///< as kernel_number()
  std::array<char, 64> host{};
};

/// Asks hwloc and the operating system. Local.
[[nodiscard]] LocalPlace local_place();

}  // namespace tutti::detail
