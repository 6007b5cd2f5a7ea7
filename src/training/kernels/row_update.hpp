// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tutti/kernels/embedding_backward.hpp>

#include "training/kernels/lanes.hpp"

/// One row of float32 values and its whole gradient.
namespace tutti::kernels {

/// The sum in float64, so that the sum over the columns of a row hardly depends on how they are sharded. Every
/// sixteenth value goes to the same partial sum, so that the result is the same at every width of vectors.
inline double sum_of_squares(const float* gradient, std::size_t count) {
  constexpr std::size_t partial = 16;
  WideLanes sums[2 * partial / lane_count] = {};
  for (std::size_t d = 0; d < count; d += lane_count) {
    Lanes values;
    load_part(values, gradient + d, std::min(lane_count, count - d));
    WideLanes* const own = sums + d % partial / lane_count * 2;
    add_squares(own[0], own[1], values);
  }
  double each[partial];
  std::memcpy(each, sums, sizeof each);
  double sum = 0;
  for (std::size_t k = 0; k < partial / 2; ++k) sum += each[k] + each[k + partial / 2];
  return sum;
}

/// Changes a row a vector of values at a time. `state` is that of the row, row_state_values(Optimizer, dim) values.
/// Only row-wise Adagrad reads mean_square.
template <RowOptimizer Optimizer>
class RowChange {
 public:
  RowChange(const UpdateRule& rule, float* state, std::size_t dim, float mean_square)
      : rule_(rule), state_(state), dim_(dim) {
    if constexpr (Optimizer == RowOptimizer::row_wise_adagrad) {
      *state += mean_square;
      denominator_ = std::sqrt(*state) + rule.epsilon;
    }
  }

  /// Changes the values d to d + width - 1 of the row.
  [[gnu::always_inline]] void operator()(Lanes& row, const Lanes& gradient, std::size_t d, std::size_t width) const {
    Lanes first = {};
    Lanes second = {};
    if constexpr (Optimizer == RowOptimizer::adagrad || Optimizer == RowOptimizer::adam) {
      load_part(first, state_ + d, width);
    }
    if constexpr (Optimizer == RowOptimizer::adam) load_part(second, state_ + dim_ + d, width);
    change_values<Optimizer>(rule_, row, gradient, first, second, denominator_);
    if constexpr (Optimizer == RowOptimizer::adagrad || Optimizer == RowOptimizer::adam) {
      store_part(state_ + d, first, width);
    }
    if constexpr (Optimizer == RowOptimizer::adam) store_part(state_ + dim_ + d, second, width);
  }

 private:
  UpdateRule rule_;
  float* state_;
  std::size_t dim_;
  float denominator_ = 0;
};

}  // namespace tutti::kernels
