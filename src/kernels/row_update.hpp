// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tutti/kernels/embedding_backward.hpp>

#include "kernels/lanes.hpp"

/// One row of float32 values and its whole gradient.
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
inline double sum_of_squares(const float* gradient, std::size_t count) {
  WideLanes low = {};
  WideLanes high = {};
  for (std::size_t d = 0; d < count; d += lane_count) {
    Lanes values;
    load_part(values, gradient + d, std::min(lane_count, count - d));
    add_squares(low, high, values);
  }
  low += high;
  double sum = 0;
  for (std::size_t k = 0; k < lane_count / 2; ++k) sum += low[k];
  return sum;
}

/// Changes a row sixteen values at a time. `state` is that of the row, row_state_values(Optimizer, dim) values;
/// mean_square is read by row-wise Adagrad.
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

  /// The values d to d + width - 1 of the row, from their gradients.
  [[gnu::always_inline]] void operator()(Lanes& row, const Lanes& gradient, std::size_t d, std::size_t width) const {
    if constexpr (Optimizer == RowOptimizer::sgd) {
      row -= rule_.rate * gradient;
    } else if constexpr (Optimizer == RowOptimizer::adagrad) {
      Lanes squares;
      load_part(squares, state_ + d, width);
      squares += gradient * gradient;
      store_part(state_ + d, squares, width);
      square_root(squares);
      row -= rule_.rate * gradient / (squares + rule_.epsilon);
    } else if constexpr (Optimizer == RowOptimizer::row_wise_adagrad) {
      row -= rule_.rate * gradient / denominator_;
    } else {
      Lanes moment;
      Lanes square;
      load_part(moment, state_ + d, width);
      load_part(square, state_ + dim_ + d, width);
      moment = rule_.keep1 * moment + rule_.take1 * gradient;
      square = rule_.keep2 * square + rule_.take2 * gradient * gradient;
      store_part(state_ + d, moment, width);
      store_part(state_ + dim_ + d, square, width);
      square *= rule_.correction2;
      square_root(square);
      row -= rule_.rate * (moment * rule_.correction1) / (square + rule_.epsilon);
    }
  }

 private:
  UpdateRule rule_;
  float* state_;
  std::size_t dim_;
  float denominator_ = 0;
};

}  // namespace tutti::kernels
