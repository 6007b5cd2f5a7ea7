// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <tutti/kernels/embedding_backward.hpp>

/// One row of float32 values and its whole gradient. Dim is the number of values where it is known when compiling, else
/// 0.
namespace tutti::kernels {

/// The constants of an update, computed once a call.
struct UpdateRule {
  explicit UpdateRule(const RowUpdate& update)
      : rate(update.learning_rate),
        epsilon(update.epsilon),
        keep1(static_cast<float>(update.beta1)),
        keep2(static_cast<float>(update.beta2)),
        take1(static_cast<float>(1 - update.beta1)),
        take2(static_cast<float>(1 - update.beta2)),
        correction1(static_cast<float>(1 / (1 - std::pow(update.beta1, static_cast<double>(update.step))))),
        correction2(static_cast<float>(1 / (1 - std::pow(update.beta2, static_cast<double>(update.step))))) {}

  float rate;
  float epsilon;
  float keep1, keep2, take1, take2;
  float correction1, correction2;
};

/// In float64, so that the sum over the columns of a row hardly depends on how they are sharded.
template <std::size_t Dim>
inline double sum_of_squares(const float* __restrict gradient, std::size_t dim) {
  constexpr std::size_t lanes = 16;
  double partial[lanes] = {};
  const std::size_t n = Dim > 0 ? Dim : dim;
  const auto square = [&](std::size_t d) {
    const auto wide = static_cast<double>(gradient[d]);
    return wide * wide;
  };
  const std::size_t whole = n - n % lanes;
  for (std::size_t d = 0; d < whole; d += lanes) {
    for (std::size_t k = 0; k < lanes; ++k) partial[k] += square(d + k);
  }
  for (std::size_t d = whole; d < n; ++d) partial[d - whole] += square(d);
  for (std::size_t width = lanes / 2; width > 0; width /= 2) {
    for (std::size_t k = 0; k < width; ++k) partial[k] += partial[k + width];
  }
  return partial[0];
}

/// `state` is that of the row, row_state_values(Optimizer, dim) values; mean_square is read by row-wise Adagrad.
template <RowOptimizer Optimizer, std::size_t Dim>
inline void update_row(float* __restrict row, const float* __restrict gradient, float* __restrict state,
                       std::size_t dim, const UpdateRule& rule, float mean_square) {
  const std::size_t n = Dim > 0 ? Dim : dim;
  const UpdateRule r = rule;
  if constexpr (Optimizer == RowOptimizer::sgd) {
    for (std::size_t d = 0; d < n; ++d) row[d] -= r.rate * gradient[d];
  } else if constexpr (Optimizer == RowOptimizer::adagrad) {
    for (std::size_t d = 0; d < n; ++d) {
      const float squares = state[d] + gradient[d] * gradient[d];
      state[d] = squares;
      row[d] -= r.rate * gradient[d] / (std::sqrt(squares) + r.epsilon);
    }
  } else if constexpr (Optimizer == RowOptimizer::row_wise_adagrad) {
    *state += mean_square;
    const float denominator = std::sqrt(*state) + r.epsilon;
    for (std::size_t d = 0; d < n; ++d) row[d] -= r.rate * gradient[d] / denominator;
  } else {
    float* __restrict moment = state;
    float* __restrict square = state + n;
    for (std::size_t d = 0; d < n; ++d) {
      moment[d] = r.keep1 * moment[d] + r.take1 * gradient[d];
      square[d] = r.keep2 * square[d] + r.take2 * gradient[d] * gradient[d];
      row[d] -= r.rate * (moment[d] * r.correction1) / (std::sqrt(square[d] * r.correction2) + r.epsilon);
    }
  }
}

}  // namespace tutti::kernels
