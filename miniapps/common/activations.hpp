// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tutti/float_types.hpp>

#include "mlp_engine.hpp"

namespace tutti::miniapps {

// What happens to a layer's values between products; each is one pass. A NaN stays a NaN, so that it reaches the loss.

/// y = activation(y)
template <typename Float>
void activate(Float* y, std::size_t count, Activation activation) {
  if (activation == Activation::relu) {
    for (std::size_t i = 0; i < count; ++i) {
      y[i] = y[i] < Float{0} ? Float{0} : y[i];
    }
  } else if (activation == Activation::sigmoid) {
    for (std::size_t i = 0; i < count; ++i) {
      y[i] = Float{1} / (Float{1} + std::exp(-y[i]));
    }
  }
}

/// y = y + b
template <typename Float>
void add_bias(Float* y, const Float* b, std::size_t n, std::size_t width) {
  for (std::size_t i = 0; i < n; ++i, y += width) {
    for (std::size_t j = 0; j < width; ++j) {
      y[j] += b[j];
    }
  }
}

/// d becomes the gradient before the activation, db its sum over the samples.
template <typename Float>
void deactivate_and_sum(Float* __restrict d, const Float* __restrict y, Float* __restrict db, std::size_t n,
                        std::size_t width, Activation activation) {
  std::fill(db, db + width, Float{0});
  for (std::size_t i = 0; i < n; ++i, d += width, y += width) {
    switch (activation) {
      case Activation::relu:
        for (std::size_t j = 0; j < width; ++j) {
          d[j] = y[j] > Float{0} ? d[j] : Float{0};
          db[j] += d[j];
        }
        break;
      case Activation::sigmoid:
        for (std::size_t j = 0; j < width; ++j) {
          d[j] *= (Float{1} - y[j]) * y[j];
          db[j] += d[j];
        }
        break;
      case Activation::identity:
        for (std::size_t j = 0; j < width; ++j) {
          db[j] += d[j];
        }
        break;
    }
  }
}

// Forms for bfloat16: relu and identity, sums in fp32.
void activate(bfloat16_t* y, std::size_t count, Activation activation);
void deactivate_and_sum(bfloat16_t* d, const bfloat16_t* y, float* db, std::size_t n, std::size_t width,
                        Activation activation);
/// To the nearest, ties to even.
void round_to_bfloat16(const float* values, bfloat16_t* rounded, std::size_t count);

}  // namespace tutti::miniapps
