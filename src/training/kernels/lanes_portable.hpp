// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstring>
#include <tutti/float_types.hpp>

#include "training/kernels/lane_types.hpp"

/// Lanes from and to narrower numbers, and what else has instructions of its own, in arithmetic that every compiler
/// vectorises.
namespace tutti::kernels {

/// The conversions of float_types.hpp on vectors.
inline void load_lanes(Lanes& to, const float16_t* from) {
  UintLanes half;
  for (std::size_t k = 0; k < lane_count; ++k) half[k] = from[k].bits;
  const UintLanes magnitude = (half & 0x7fffU) << 13;
  const UintLanes normal = magnitude + (112U << 23);
  const UintLanes special =
      (magnitude + (224U << 23)) | (magnitude > 0x0f800000U ? UintLanes{} + 0x00400000U : UintLanes{});
  const UintLanes raised = magnitude + (113U << 23);
  Lanes small;
  std::memcpy(&small, &raised, sizeof small);
  small -= 0x1p-14F;
  UintLanes word;
  std::memcpy(&word, &small, sizeof word);
  word = magnitude < 0x00800000U ? word : normal;
  word = (magnitude >= 0x0f800000U ? special : word) | (half & 0x8000U) << 16;
  std::memcpy(&to, &word, sizeof to);
}

inline void load_lanes(Lanes& to, const std::uint8_t* from) {
  for (std::size_t k = 0; k < lane_count; ++k) to[k] = static_cast<float>(from[k]);
}

/// Stores the lower halves.
inline void store_halves(std::uint16_t* to, const UintLanes& from) {
  for (std::size_t k = 0; k < lane_count; ++k) to[k] = static_cast<std::uint16_t>(from[k]);
}

/// Stores the lowest bytes.
inline void store_bytes(std::uint8_t* to, const UintLanes& from) {
  for (std::size_t k = 0; k < lane_count; ++k) to[k] = static_cast<std::uint8_t>(from[k]);
}

inline void store_lanes(float16_t* to, const Lanes& from) {
  UintLanes word;
  std::memcpy(&word, &from, sizeof word);
  const UintLanes magnitude = word & 0x7fffffffU;
  Lanes raised;
  std::memcpy(&raised, &magnitude, sizeof raised);
  raised += 0.5F;  // the last bit of 0.5 is the least float16
  UintLanes small;
  std::memcpy(&small, &raised, sizeof small);
  small -= 126U << 23;
  const UintLanes normal = (magnitude - (112U << 23) + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
  const UintLanes nan = ((magnitude >> 13) & 0x3ffU) | 0x7e00U;
  UintLanes half = magnitude < (113U << 23) ? small : normal;
  half = magnitude >= 0x47800000U ? UintLanes{} + 0x7c00U : half;
  half = (magnitude > 0x7f800000U ? nan : half) | ((word >> 16) & 0x8000U);
  store_halves(&to->bits, half);
}

inline void square_root(Lanes& x) {
  for (std::size_t k = 0; k < lane_count; ++k) x[k] = std::sqrt(x[k]);
}

}  // namespace tutti::kernels
