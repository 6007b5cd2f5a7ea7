// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <immintrin.h>

#include <tutti/float_types.hpp>

#include "training/kernels/lane_types.hpp"

/// Lanes from and to narrower numbers, and what else has instructions of its own, with AVX-512.
namespace tutti::kernels {

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

inline void square_root(Lanes& x) { x = _mm512_maskz_sqrt_ps(all_lanes, x); }

}  // namespace tutti::kernels
