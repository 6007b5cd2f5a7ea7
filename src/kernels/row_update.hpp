// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <tutti/kernels/embedding_backward.hpp>

#include "kernels/embedding_common.hpp"

/// One row and its whole gradient. Dim is the number of values where it is known when compiling, else 0.
namespace tutti::kernels {

template <typename Row>
inline Row to_row(float x) {
  return static_cast<Row>(x);
}

template <std::size_t Dim>
inline float mean_square(const float* __restrict gradient, std::size_t dim) {
  constexpr std::size_t lanes = 16;
  float partial[lanes] = {};
  const std::size_t n = Dim > 0 ? Dim : dim;
  const std::size_t whole = n - n % lanes;
  for (std::size_t d = 0; d < whole; d += lanes) {
    for (std::size_t k = 0; k < lanes; ++k) partial[k] += gradient[d + k] * gradient[d + k];
  }
  for (std::size_t d = whole; d < n; ++d) partial[d - whole] += gradient[d] * gradient[d];
  for (std::size_t width = lanes / 2; width > 0; width /= 2) {
    for (std::size_t k = 0; k < width; ++k) partial[k] += partial[k + width];
  }
  return partial[0] / static_cast<float>(n);
}

/// `state` is that of the row: dim values for Adagrad, one for row-wise Adagrad, unused for SGD.
template <RowOptimizer Optimizer, std::size_t Dim, typename Row>
inline void update_row(Row* __restrict row, const float* __restrict gradient, float* __restrict state, std::size_t dim,
                       const RowUpdate& update) {
  const std::size_t n = Dim > 0 ? Dim : dim;
  const float rate = update.learning_rate;
  if constexpr (Optimizer == RowOptimizer::sgd) {
    for (std::size_t d = 0; d < n; ++d) row[d] = to_row<Row>(row_value(row[d]) - rate * gradient[d]);
  } else if constexpr (Optimizer == RowOptimizer::adagrad) {
    for (std::size_t d = 0; d < n; ++d) {
      const float squares = state[d] + gradient[d] * gradient[d];
      state[d] = squares;
      row[d] = to_row<Row>(row_value(row[d]) - rate * gradient[d] / (std::sqrt(squares) + update.epsilon));
    }
  } else {
    *state += mean_square<Dim>(gradient, dim);
    const float denominator = std::sqrt(*state) + update.epsilon;
    for (std::size_t d = 0; d < n; ++d) row[d] = to_row<Row>(row_value(row[d]) - rate * gradient[d] / denominator);
  }
}

}  // namespace tutti::kernels
