// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "collectives/services.hpp"

/// Converts runs of float or double to and from 16 bits, by way of float32 in blocks that stay in the cache.
namespace tutti::training {

inline constexpr std::size_t run_block = 1024;

template <typename T>
void divide_run(const T* __restrict input, float* __restrict output, std::size_t count, std::size_t divisor) {
  const T by = static_cast<T>(divisor);
  if ((divisor & (divisor - 1)) == 0) {  // the product with such a reciprocal is exact, and faster
    const T factor = T(1) / by;
    for (std::size_t i = 0; i < count; ++i) output[i] = static_cast<float>(input[i] * factor);
  } else {
    for (std::size_t i = 0; i < count; ++i) output[i] = static_cast<float>(input[i] / by);
  }
}

/// output[i] = input[i] / divisor.
template <typename Narrow, typename T>
void narrow_run(const T* input, Narrow* output, std::size_t count, std::size_t divisor) {
  float block[run_block];
  for (std::size_t at = 0; at < count; at += run_block) {
    const std::size_t length = std::min(run_block, count - at);
    divide_run(input + at, block, length, divisor);
    kernels::narrow(block, output + at, length);
  }
}

template <typename Narrow, typename T>
void widen_run(const Narrow* input, T* output, std::size_t count) {
  if constexpr (std::is_same_v<T, float>) {
    kernels::widen(input, output, count);
  } else {
    float block[run_block];
    for (std::size_t at = 0; at < count; at += run_block) {
      const std::size_t length = std::min(run_block, count - at);
      kernels::widen(input + at, block, length);
      std::copy(block, block + length, output + at);
    }
  }
}

}  // namespace tutti::training
