// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/shm/exchange.hpp"

namespace tutti::detail::shm {

/// The number of steps after which a task continues a blocking call, if there is a core for each rank.
inline constexpr int steps_alone = 200;
/// The same for a nonblocking call: if all ranks come at about the same time, a short one is over by then.
inline constexpr int steps_begun = 40;

/// A protocol at work in one call: `begin(exchange, scratch)` publishes, and `step(exchange)` continues as far as
/// possible and returns true once this rank has all that it gets. The members here are those of most protocols.
struct Transport {
  static constexpr bool begins_alone = true;     ///< a blocking call may begin before it has a task
  static constexpr bool starts_alone = false;    ///< so may a nonblocking one
  static constexpr bool gives_at_begin = false;  ///< other ranks wait for nothing more once begin() is over
  static constexpr bool needs_scratch = false;
  static constexpr int steps_at_start = 1;  ///< of a task, before other work has its turn

  /// The memory that begin() gets, in bytes.
  [[nodiscard]] static std::size_t scratch_bytes(const Exchange& /*exchange*/) { return 0; }
  /// Returns false if no rank looks at this one's cell.
  [[nodiscard]] static bool gives(const Exchange& /*exchange*/) { return true; }
  /// Returns true if this rank, at the end, has heard of all others.
  [[nodiscard]] static bool hears_all(const Exchange& /*exchange*/) { return false; }
  /// After the last step.
  void finish(const Exchange& /*exchange*/) {}
  /// A number that changes whenever a step has moved data.
  [[nodiscard]] static std::uint64_t moves() noexcept { return 0; }
};

}  // namespace tutti::detail::shm
