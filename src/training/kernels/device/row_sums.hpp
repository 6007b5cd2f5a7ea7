// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/kernels/launch.hpp>

#include "training/kernels/row_arithmetic.hpp"

/// Sums and extrema over a row in the scratch of a team (a warp or a block), in the same order as the host's vectors of
/// sixteen.
namespace tutti::kernels::device {

inline constexpr std::size_t host_lanes = 16;
inline constexpr std::size_t row_sum_bytes = host_lanes * sizeof(double);
inline constexpr std::size_t row_scale_bytes = 3 * host_lanes * sizeof(float);

/// The sum of squares, as by sum_of_squares of row_update.hpp. `room` has row_sum_bytes.
template <typename Team>
TUTTI_FUNCTION double row_squares(const Team& team, const float* values, std::size_t count, double* room) {
  team.each(host_lanes, [&](std::size_t lane) {
    double sum = 0;
    for (std::size_t d = lane; d < count; d += host_lanes) {
      const auto x = static_cast<double>(values[d]);
      sum += x * x;
    }
    room[lane] = sum;
  });
  double sum = 0;
  for (std::size_t k = 0; k < host_lanes / 2; ++k) sum += room[k] + room[k + host_lanes / 2];
  return sum;
}

/// The scale of a row, as by scale_of of row_scale.hpp. `room` has row_scale_bytes.
template <typename Team>
TUTTI_FUNCTION RowScale row_scale(const Team& team, const float* values, std::size_t count, float* room) {
  float* const least = room;
  float* const largest = room + host_lanes;
  float* const special = room + 2 * host_lanes;
  team.each(host_lanes, [&](std::size_t lane) {
    float low = values[lane < count ? lane : 0];
    float high = low;
    bool found = false;
    for (std::size_t d = lane; d < (count + host_lanes - 1) / host_lanes * host_lanes; d += host_lanes) {
      const float x = values[d < count ? d : 0];
      low = x < low ? x : low;
      high = x > high ? x : high;
      found = found || (__builtin_bit_cast(std::uint32_t, x) & 0x7f800000U) == 0x7f800000U;
    }
    least[lane] = low;
    largest[lane] = high;
    special[lane] = found ? 1.0F : 0.0F;
  });
  for (std::size_t width = host_lanes / 2; width > 0; width /= 2) {
    team.each(width, [&](std::size_t k) {
      least[k] = least[k] < least[k + width] ? least[k] : least[k + width];
      largest[k] = largest[k] > largest[k + width] ? largest[k] : largest[k + width];
      special[k] += special[k + width];
    });
  }
  return scale_between(least[0], largest[0], special[0] > 0);
}

}  // namespace tutti::kernels::device
