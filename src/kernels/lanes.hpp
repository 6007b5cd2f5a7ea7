// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <tutti/float_types.hpp>

#include "kernels/convert.hpp"

/// Sixteen floats that the compiler keeps in vector registers. Only references are passed: passing such vectors by
/// value would make the calling convention depend on the processor.
namespace tutti::kernels {

using Lanes [[gnu::vector_size(64)]] = float;
inline constexpr std::size_t lane_count = 16;

inline void load_lanes(Lanes& to, const float* from) { std::memcpy(&to, from, sizeof to); }

inline void load_lanes(Lanes& to, const bfloat16_t* from) {
  using Halves [[gnu::vector_size(32)]] = std::uint16_t;
  using Words [[gnu::vector_size(64)]] = std::uint32_t;
  Halves halves;
  std::memcpy(&halves, from, sizeof halves);
  const Words words = __builtin_convertvector(halves, Words) << 16;
  std::memcpy(&to, &words, sizeof to);
}

inline void load_lanes(Lanes& to, const float16_t* from) {
  float wide[lane_count];
  widen(from, wide, lane_count);
  load_lanes(to, wide);
}

inline void load_lanes(Lanes& to, const std::uint8_t* from) {
  using Bytes [[gnu::vector_size(16)]] = std::uint8_t;
  using Words [[gnu::vector_size(64)]] = std::int32_t;
  Bytes bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  to = __builtin_convertvector(__builtin_convertvector(bytes, Words), Lanes);
}

inline void store_lanes(float* to, const Lanes& from) { std::memcpy(to, &from, sizeof from); }

}  // namespace tutti::kernels
