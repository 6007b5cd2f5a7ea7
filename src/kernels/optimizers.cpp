// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <tutti/error.hpp>
#include <tutti/kernels/optimizers.hpp>

#include "kernels/parallel.hpp"

namespace tutti::kernels {

namespace {

/// Below so many values one thread is as fast as several.
constexpr std::size_t grain = std::size_t{1} << 16;

template <typename T>
struct Piece {
  T* __restrict parameters;
  const T* __restrict gradients;
  T* __restrict first;   ///< momentum, sum of squares, or Adam's first moment
  T* __restrict second;  ///< Adam's second moment
  std::size_t count;
};

template <typename T>
void descend(const DenseUpdate& update, const Piece<T>& piece) {
  const T rate = static_cast<T>(update.learning_rate);
  const T decay = static_cast<T>(update.weight_decay);
  for (std::size_t i = 0; i < piece.count; ++i) {
    const T gradient = piece.gradients[i] + decay * piece.parameters[i];
    piece.parameters[i] -= rate * gradient;
  }
}

template <bool Nesterov, typename T>
void descend_with_momentum(const DenseUpdate& update, const Piece<T>& piece) {
  const T rate = static_cast<T>(update.learning_rate);
  const T decay = static_cast<T>(update.weight_decay);
  const T momentum = static_cast<T>(update.momentum);
  for (std::size_t i = 0; i < piece.count; ++i) {
    const T gradient = piece.gradients[i] + decay * piece.parameters[i];
    const T velocity = momentum * piece.first[i] + gradient;
    piece.first[i] = velocity;
    piece.parameters[i] -= rate * (Nesterov ? gradient + momentum * velocity : velocity);
  }
}

template <typename T>
void adagrad(const DenseUpdate& update, const Piece<T>& piece) {
  const T rate = static_cast<T>(update.learning_rate);
  const T decay = static_cast<T>(update.weight_decay);
  const T epsilon = static_cast<T>(update.epsilon);
  for (std::size_t i = 0; i < piece.count; ++i) {
    const T gradient = piece.gradients[i] + decay * piece.parameters[i];
    const T squares = piece.first[i] + gradient * gradient;
    piece.first[i] = squares;
    piece.parameters[i] -= rate * gradient / (std::sqrt(squares) + epsilon);
  }
}

template <typename T>
void adam(const DenseUpdate& update, std::uint64_t step, const Piece<T>& piece) {
  const double steps = static_cast<double>(step);
  const T rate = static_cast<T>(update.learning_rate / (1 - std::pow(update.beta1, steps)));
  const T correction = static_cast<T>(std::sqrt(1 - std::pow(update.beta2, steps)));
  const T decay = static_cast<T>(update.weight_decay);
  const T weight1 = static_cast<T>(1 - update.beta1);
  const T keep2 = static_cast<T>(update.beta2);
  const T weight2 = static_cast<T>(1 - update.beta2);
  const T epsilon = static_cast<T>(update.epsilon);
  for (std::size_t i = 0; i < piece.count; ++i) {
    const T gradient = piece.gradients[i] + decay * piece.parameters[i];
    const T mean = piece.first[i] + weight1 * (gradient - piece.first[i]);
    const T square = keep2 * piece.second[i] + weight2 * gradient * gradient;
    piece.first[i] = mean;
    piece.second[i] = square;
    piece.parameters[i] -= rate * mean / (std::sqrt(square) / correction + epsilon);
  }
}

template <typename T>
void update_piece(const DenseUpdate& update, std::uint64_t step, const Piece<T>& piece) {
  switch (update.optimizer) {
    case DenseOptimizer::sgd:
      if (update.momentum == 0) return descend(update, piece);
      return update.nesterov ? descend_with_momentum<true>(update, piece) : descend_with_momentum<false>(update, piece);
    case DenseOptimizer::adagrad:
      return adagrad(update, piece);
    case DenseOptimizer::adam:
      return adam(update, step, piece);
  }
}

void check(const DenseUpdate& update, std::uint64_t step, std::size_t parameters, std::size_t gradients,
           std::size_t state) {
  const std::size_t needed = state_values(update) * parameters;
  if (gradients != parameters || state != needed)
    throw Error(ErrorCode::invalid_argument, "dense_update: " + std::to_string(parameters) +
                                                 " parameters need as many gradients and " + std::to_string(needed) +
                                                 " values of state; given are " + std::to_string(gradients) + " and " +
                                                 std::to_string(state));
  if (step == 0) throw Error(ErrorCode::invalid_argument, "dense_update: step is 0; steps are counted from 1");
}

template <typename T>
void update_all(const DenseUpdate& update, std::uint64_t step, std::span<T> parameters, std::span<const T> gradients,
                std::span<T> state) {
  const std::size_t count = parameters.size();
  check(update, step, count, gradients.size(), state.size());
  const std::size_t values = state_values(update);
  T* const first = values > 0 ? state.data() : nullptr;
  T* const second = values > 1 ? state.data() + count : nullptr;
  const std::size_t partitions = count < 2 * grain ? 1 : std::min(partition_count(0), count / grain);
  for_each_partition(partitions, [&](std::size_t p) {
    const auto [begin, end] = partition_range(count, partitions, p);
    update_piece(update, step,
                 Piece<T>{parameters.data() + begin, gradients.data() + begin, first == nullptr ? first : first + begin,
                          second == nullptr ? second : second + begin, end - begin});
  });
}

}  // namespace

std::size_t state_values(const DenseUpdate& update) {
  switch (update.optimizer) {
    case DenseOptimizer::sgd:
      return update.momentum == 0 ? 0 : 1;
    case DenseOptimizer::adagrad:
      return 1;
    case DenseOptimizer::adam:
      return 2;
  }
  throw Error(ErrorCode::invalid_argument, "state_values: optimizer is not one of sgd, adagrad and adam");
}

void dense_update(const DenseUpdate& update, std::uint64_t step, std::span<float> parameters,
                  std::span<const float> gradients, std::span<float> state) {
  update_all(update, step, parameters, gradients, state);
}

void dense_update(const DenseUpdate& update, std::uint64_t step, std::span<double> parameters,
                  std::span<const double> gradients, std::span<double> state) {
  update_all(update, step, parameters, gradients, state);
}

}  // namespace tutti::kernels
