// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tutti/float_types.hpp>

#if defined(__F16C__)
#include <immintrin.h>
#endif

/// Whole runs of narrow floats to and from float32, at the width of the vector unit. The runs do not overlap.
namespace tutti::kernels {

template <typename T>
inline void widen(const T* __restrict input, float* __restrict output, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) output[i] = static_cast<float>(input[i]);
}

template <typename T>
inline void narrow(const float* __restrict input, T* __restrict output, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) output[i] = static_cast<T>(input[i]);
}

#if defined(__F16C__)
inline void widen(const float16_t* __restrict input, float* __restrict output, std::size_t count) {
  const std::size_t whole = count - count % 8;
  for (std::size_t i = 0; i < whole; i += 8) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(input + i));
    _mm256_storeu_ps(output + i, _mm256_cvtph_ps(half));
  }
  for (std::size_t i = whole; i < count; ++i) output[i] = static_cast<float>(input[i]);
}

inline void narrow(const float* __restrict input, float16_t* __restrict output, std::size_t count) {
  const std::size_t whole = count - count % 8;
  for (std::size_t i = 0; i < whole; i += 8) {
    const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(input + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(output + i), half);
  }
  for (std::size_t i = whole; i < count; ++i) output[i] = static_cast<float16_t>(input[i]);
}
#endif

}  // namespace tutti::kernels
