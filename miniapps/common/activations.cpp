// SPDX-License-Identifier: BSD-3-Clause
#include "activations.hpp"

namespace tutti::miniapps {

void activate(bfloat16_t* y, std::size_t count, Activation activation) {
  constexpr std::uint16_t negative_zero = 0x8000;
  constexpr std::uint16_t negative_infinity = 0xFF80;
  if (activation != Activation::relu) {
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t bits = y[i].bits;
    y[i].bits = bits >= negative_zero && bits <= negative_infinity ? std::uint16_t{0} : bits;
  }
}

void deactivate_and_sum(bfloat16_t* __restrict d, const bfloat16_t* __restrict y, float* __restrict db, std::size_t n,
                        std::size_t width, Activation activation) {
  const bool relu = activation == Activation::relu;
  std::fill(db, db + width, 0.0F);
  for (std::size_t i = 0; i < n; ++i, d += width, y += width) {
    for (std::size_t j = 0; relu && j < width; ++j) {
      d[j].bits = y[j].bits == 0 ? std::uint16_t{0} : d[j].bits;
    }
    for (std::size_t j = 0; j < width; ++j) {
      db[j] += static_cast<float>(d[j]);
    }
  }
}

void round_to_bfloat16(const float* __restrict values, bfloat16_t* __restrict rounded, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    rounded[i] = bfloat16_t(values[i]);
  }
}

}  // namespace tutti::miniapps
