// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <tutti/float_types.hpp>

#include "training/kernels/lane_types.hpp"
#include "training/kernels/row_arithmetic.hpp"

#if defined(__AVX512F__)
#include "training/kernels/lanes_avx512.hpp"
#elif defined(__AVX2__) && defined(__F16C__)
#include "training/kernels/lanes_avx2.hpp"
#else
#include "training/kernels/lanes_portable.hpp"
#endif

/// What kernels do with lanes.
namespace tutti::kernels {

inline void load_lanes(Lanes& to, const float* from) { std::memcpy(&to, from, sizeof to); }

inline void load_lanes(Lanes& to, const bfloat16_t* from) {
  using Halves [[gnu::vector_size(register_bytes / 2)]] = std::uint16_t;
  Halves halves;
  std::memcpy(&halves, from, sizeof halves);
  const UintLanes words = __builtin_convertvector(halves, UintLanes) << 16;
  std::memcpy(&to, &words, sizeof to);
}

inline void store_lanes(float* to, const Lanes& from) { std::memcpy(to, &from, sizeof from); }

/// Loads `width` values, and zeros after them.
template <typename T>
[[gnu::always_inline]] inline void load_part(Lanes& to, const T* from, std::size_t width) {
  if (width >= lane_count) return load_lanes(to, from);
  T block[lane_count] = {};
  std::memcpy(block, from, width * sizeof(T));
  load_lanes(to, block);
}

[[gnu::always_inline]] inline void store_part(float* to, const Lanes& from, std::size_t width) {
  std::memcpy(to, &from, (width < lane_count ? width : lane_count) * sizeof(float));
}

template <>
struct Arithmetic<Lanes> {
  using Uint = UintLanes;
  using Int = IntLanes;
  static constexpr std::size_t width = lane_count;
  static void bits_of(UintLanes& to, const Lanes& from) { std::memcpy(&to, &from, sizeof to); }
  static void value_of(Lanes& to, const UintLanes& from) { std::memcpy(&to, &from, sizeof to); }
  static void truncate(IntLanes& to, const Lanes& from) { to = __builtin_convertvector(from, IntLanes); }
  static void widen(Lanes& to, const IntLanes& from) { to = __builtin_convertvector(from, Lanes); }
  static void unsign(UintLanes& to, const IntLanes& from) { std::memcpy(&to, &from, sizeof to); }
  static void sign(IntLanes& to, const UintLanes& from) { std::memcpy(&to, &from, sizeof to); }
  static void square_root(Lanes& x) { kernels::square_root(x); }
  static void count(UintLanes& to) {
    for (std::size_t k = 0; k < lane_count; ++k) to[k] = static_cast<std::uint32_t>(k);
  }
};

/// Adds the squares of values, exact in float64, to sums for the first half of them and for the second.
inline void add_squares(WideLanes& low, WideLanes& high, const Lanes& values) {
  using Half [[gnu::vector_size(register_bytes / 2)]] = float;
  Half halves[2];
  std::memcpy(halves, &values, sizeof halves);
  const WideLanes first = __builtin_convertvector(halves[0], WideLanes);
  const WideLanes second = __builtin_convertvector(halves[1], WideLanes);
  low += first * first;
  high += second * second;
}

}  // namespace tutti::kernels
