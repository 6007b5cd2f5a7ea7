// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "shape.hpp"

namespace tutti::commbench {

/// Messages between ranks that are measured as a collective is. All are of one size, the size of the point.
enum class Traffic : std::uint8_t {
  sendrecv,   ///< each rank to both its neighbours in a ring, and from both
  pairwise,   ///< rank i and rank i + n/2 to one another, for i below n/2; of an odd number the last is idle
  incast,     ///< all others to the root, with data of their own
  multicast,  ///< the root to all others, the same data
};

inline constexpr std::array all_traffic{Traffic::sendrecv, Traffic::pairwise, Traffic::incast, Traffic::multicast};

[[nodiscard]] constexpr std::string_view traffic_name(Traffic traffic) {
  switch (traffic) {
    case Traffic::sendrecv:
      return "sendrecv";
    case Traffic::pairwise:
      return "pairwise";
    case Traffic::incast:
      return "incast";
    case Traffic::multicast:
      break;
  }
  return "multicast";
}

/// The messages of a rank, of so many elements each; needs two ranks.
[[nodiscard]] Shape make_traffic_shape(Traffic traffic, std::size_t elements, const World& world);

/// Messages that the busiest rank sends, or receives: what algorithm bandwidth is multiplied by to give bus bandwidth.
[[nodiscard]] double bus_factor(Traffic traffic, int ranks);

}  // namespace tutti::commbench
