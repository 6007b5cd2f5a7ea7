// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <tutti/float_types.hpp>

#include "kernels/convert.hpp"
#include "kernels/row_arithmetic.hpp"

/// As many floats as a vector register has: of longer vectors compilers make code for single values. Only references
/// are passed: passing such vectors by value would make the calling convention depend on the processor.
namespace tutti::kernels {

#if defined(__AVX512F__)
inline constexpr std::size_t register_bytes = 64;
#elif defined(__AVX2__)
inline constexpr std::size_t register_bytes = 32;
#else
inline constexpr std::size_t register_bytes = 16;
#endif

using Lanes [[gnu::vector_size(register_bytes)]] = float;
using IntLanes [[gnu::vector_size(register_bytes)]] = std::int32_t;
using UintLanes [[gnu::vector_size(register_bytes)]] = std::uint32_t;
using WideLanes [[gnu::vector_size(register_bytes)]] = double;  ///< half as many
inline constexpr std::size_t lane_count = register_bytes / sizeof(float);

inline void load_lanes(Lanes& to, const float* from) { std::memcpy(&to, from, sizeof to); }

inline void load_lanes(Lanes& to, const bfloat16_t* from) {
  using Halves [[gnu::vector_size(register_bytes / 2)]] = std::uint16_t;
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

inline void store_lanes(float16_t* to, const Lanes& from) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm512_maskz_cvtps_ph(all_lanes, from, _MM_FROUND_TO_NEAREST_INT));
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
#elif defined(__AVX2__) && defined(__F16C__)
inline void load_lanes(Lanes& to, const float16_t* from) {
  to = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

inline void load_lanes(Lanes& to, const std::uint8_t* from) {
  to = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
}

inline void store_lanes(float16_t* to, const Lanes& from) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(from, _MM_FROUND_TO_NEAREST_INT));
}

/// The lower halves of the eight words, which are all below 2^16.
inline __m128i pack_halves(const UintLanes& from) {
  const __m256i words = reinterpret_cast<__m256i>(from);
  return _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}

/// Stores the lower halves.
inline void store_halves(std::uint16_t* to, const UintLanes& from) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), pack_halves(from & 0xffffU));
}

/// Stores the lowest bytes.
inline void store_bytes(std::uint8_t* to, const UintLanes& from) {
  const __m128i halves = pack_halves(from & 0xffU);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(halves, halves));
}
#else
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
#elif defined(__AVX2__)
  x = _mm256_sqrt_ps(x);
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
