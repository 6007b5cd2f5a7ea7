// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <immintrin.h>

#include <tutti/float_types.hpp>

#include "training/kernels/lane_types.hpp"

/// Lanes from and to narrower numbers, and what else has instructions of its own, with AVX2 and F16C.
namespace tutti::kernels {

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

inline void square_root(Lanes& x) { x = _mm256_sqrt_ps(x); }

}  // namespace tutti::kernels
