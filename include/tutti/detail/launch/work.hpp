// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <tutti/detail/export.hpp>

/// What a launch runs, whatever launches it.
namespace tutti::kernels::device {

inline constexpr unsigned warp_lanes = 32;
inline constexpr unsigned block_threads = 256;
/// Blocks of a processor at least, whose registers the compiler keeps to: those that a body names, else 2.
template <typename Body>
[[nodiscard]] constexpr unsigned blocks_at_once() {
  if constexpr (requires { Body::blocks_at_once; }) return Body::blocks_at_once;
  return 2;
}

/// Bytes of scratch memory that the warps of a block share: every device has them.
inline constexpr std::size_t most_scratch_bytes = 40960;
inline constexpr std::size_t scratch_alignment = 16;

/// Calls body(i) for every i < count. Whoever launches it may run further items, which do nothing.
template <typename Body>
struct ItemWork {
  Body body;
  std::size_t count;

  TUTTI_FUNCTION void operator()(std::size_t i) const {
    if (i < count) body(i);
  }
};

/// Calls body(warp, item) for every item < count, with scratch_bytes bytes for each warp.
template <typename Body>
struct WarpWork {
  Body body;
  std::size_t count;
  std::size_t scratch_bytes;  ///< a multiple of scratch_alignment

  template <typename Warp>
  TUTTI_FUNCTION void operator()(const Warp& warp, std::size_t item) const {
    if (item < count) body(warp, item);
  }
  /// The warps of a block.
  [[nodiscard]] std::size_t warps_of_a_block() const {
    constexpr std::size_t most = block_threads / warp_lanes;
    const std::size_t fitting = scratch_bytes == 0 ? most : most_scratch_bytes / scratch_bytes;
    return fitting < most ? fitting : most;
  }
};

/// The quotient and remainder of an item's number, in 32 bits if they are enough, because that is much faster on a
/// device.
struct Division {
  std::size_t quotient;
  std::size_t remainder;
};
TUTTI_FUNCTION Division divide_item(std::size_t item, std::size_t by) {
  if (item <= 0xffffffffU && by <= 0xffffffffU) {
    const auto small = static_cast<std::uint32_t>(item);
    const auto divisor = static_cast<std::uint32_t>(by);
    const std::uint32_t quotient = small / divisor;
    return {quotient, small - quotient * divisor};
  }
  return {item / by, item % by};
}

}  // namespace tutti::kernels::device
