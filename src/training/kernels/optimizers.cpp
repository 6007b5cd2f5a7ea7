// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <tutti/error.hpp>
#include <tutti/kernels/optimizers.hpp>

#include "kernels/parallel.hpp"
#include "training/kernels/dense_arithmetic.hpp"

namespace tutti::kernels {

namespace {

/// Below this number of values one thread is as fast as several.
constexpr std::size_t grain = std::size_t{1} << 16;

template <typename T>
struct Piece {
  T* __restrict parameters;
  const T* __restrict gradients;
  T* __restrict first;   ///< momentum, sum of squares, or Adam's first moment
  T* __restrict second;  ///< Adam's second moment
  std::size_t count;
};

template <DenseStep Step, typename T>
void step_piece(const DenseRule<T>& rule, const Piece<T>& piece) {
  constexpr std::size_t states = dense_states(Step);
  for (std::size_t i = 0; i < piece.count; ++i) {
    T first{};
    T second{};
    if constexpr (states > 0) first = piece.first[i];
    if constexpr (states > 1) second = piece.second[i];
    dense_step<Step>(rule, piece.parameters[i], piece.gradients[i], first, second);
    if constexpr (states > 0) piece.first[i] = first;
    if constexpr (states > 1) piece.second[i] = second;
  }
}

template <typename T>
void update_piece(const DenseUpdate& update, std::uint64_t step, const Piece<T>& piece) {
  const DenseRule<T> rule(update, step);
  visit_dense_step(update,
                   [&]<DenseStep Step>(std::integral_constant<DenseStep, Step>) { step_piece<Step>(rule, piece); });
}

template <typename T>
void update_all(const DenseUpdate& update, std::uint64_t step, std::span<T> parameters, std::span<const T> gradients,
                std::span<T> state) {
  const std::size_t count = parameters.size();
  check_dense_update(update, step, count, gradients.size(), state.size());
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

void check_dense_update(const DenseUpdate& update, std::uint64_t step, std::size_t parameters, std::size_t gradients,
                        std::size_t state) {
  const std::size_t needed = state_values(update) * parameters;
  if (gradients != parameters || state != needed)
    throw Error(ErrorCode::invalid_argument, "dense_update: " + std::to_string(parameters) +
                                                 " parameters need as many gradients and " + std::to_string(needed) +
                                                 " values of state, but were given " + std::to_string(gradients) +
                                                 " and " + std::to_string(state));
  if (step == 0) throw Error(ErrorCode::invalid_argument, "dense_update: step is 0; steps are counted from 1");
}

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
