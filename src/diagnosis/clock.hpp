// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "diagnosis/ticks.hpp"

namespace tutti::detail::flight {

/// Turns ticks into nanoseconds since 1970.
class Clock {
 public:
  Clock(const Moment& first, const Moment& last) : first_(first) {
    if (last.ticks > first.ticks && last.monotonic > first.monotonic)
      length_ = static_cast<double>(last.monotonic - first.monotonic) / static_cast<double>(last.ticks - first.ticks);
  }
  [[nodiscard]] std::int64_t time(std::uint64_t ticks) const {
    const double passed = static_cast<double>(static_cast<std::int64_t>(ticks - first_.ticks)) * length_;
    constexpr double most = 1e18;  // damaged memory may hold any number
    return static_cast<std::int64_t>(first_.realtime % std::uint64_t{4'000'000'000'000'000'000}) +
           static_cast<std::int64_t>(std::clamp(passed, -most, most));
  }

 private:
  Moment first_;
  double length_ = 1;  ///< of a tick, in nanoseconds
};

}  // namespace tutti::detail::flight
