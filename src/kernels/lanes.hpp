// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <tutti/float_types.hpp>

#include "kernels/convert.hpp"
#include "kernels/row_arithmetic.hpp"

/// Sixteen floats that the compiler keeps in vector registers. Only references are passed: passing such vectors by
/// value would make the calling convention depend on the processor.
namespace tutti::kernels {

using Lanes [[gnu::vector_size(64)]] = float;
using IntLanes [[gnu::vector_size(64)]] = std::int32_t;
using UintLanes [[gnu::vector_size(64)]] = std::uint32_t;
using WideLanes [[gnu::vector_size(64)]] = double;  ///< half as many
inline constexpr std::size_t lane_count = 16;

inline void load_lanes(Lanes& to, const float* from) { std::memcpy(&to, from, sizeof to); }

inline void load_lanes(Lanes& to, const bfloat16_t* from) {
  using Halves [[gnu::vector_size(32)]] = std::uint16_t;
  Halves halves;
  std::memcpy(&halves, from, sizeof halves);
  const UintLanes words = __builtin_convertvector(halves, UintLanes) << 16;
  std::memcpy(&to, &words, sizeof to);
}

#if defined(__AVX512F__)
/// Uses the masked forms, because GCC warns about the undefined lanes in the others.
inline constexpr __mmask16 all_lanes = 0xffff;

inline void load_lanes(Lanes& to, const float16_t* from) {
  to = _mm512_maskz_cvtph_ps(all_lanes, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

inline void load_lanes(Lanes& to, const std::uint8_t* from) {
  to = _mm512_maskz_cvtepi32_ps(
      all_lanes, _mm512_maskz_cvtepu8_epi32(all_lanes, _mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}

/// Stores the lower halves.
inline void store_halves(std::uint16_t* to, const UintLanes& from) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm512_maskz_cvtepi32_epi16(all_lanes, reinterpret_cast<__m512i>(from)));
}

/// Stores the lowest bytes.
inline void store_bytes(std::uint8_t* to, const UintLanes& from) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                   _mm512_maskz_cvtepi32_epi8(all_lanes, reinterpret_cast<__m512i>(from)));
}
#else
inline void load_lanes(Lanes& to, const float16_t* from) {
  float wide[lane_count];
  widen(from, wide, lane_count);
  load_lanes(to, wide);
}

inline void load_lanes(Lanes& to, const std::uint8_t* from) {
  float wide[lane_count];
  widen(from, wide, lane_count);
  load_lanes(to, wide);
}

/// Stores the lower halves.
inline void store_halves(std::uint16_t* to, const UintLanes& from) {
  for (std::size_t k = 0; k < lane_count; ++k) to[k] = static_cast<std::uint16_t>(from[k]);
}

/// Stores the lowest bytes.
inline void store_bytes(std::uint8_t* to, const UintLanes& from) {
  for (std::size_t k = 0; k < lane_count; ++k) to[k] = static_cast<std::uint8_t>(from[k]);
}
#endif

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

inline void square_root(Lanes& x) {
#if defined(__AVX512F__)
  x = _mm512_maskz_sqrt_ps(all_lanes, x);
#else
  for (std::size_t k = 0; k < lane_count; ++k) x[k] = std::sqrt(x[k]);
#endif
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
  static void count(UintLanes& to) { to = UintLanes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}; }
};

/// Adds the squares of sixteen values, exact in float64, to eight sums and eight more.
inline void add_squares(WideLanes& low, WideLanes& high, const Lanes& values) {
  using Half [[gnu::vector_size(32)]] = float;
  Half halves[2];
  std::memcpy(halves, &values, sizeof halves);
  const WideLanes first = __builtin_convertvector(halves[0], WideLanes);
  const WideLanes second = __builtin_convertvector(halves[1], WideLanes);
  low += first * first;
  high += second * second;
}

}  // namespace tutti::kernels
