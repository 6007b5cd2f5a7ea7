// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tutti/error.hpp>
#include <tutti/kernels/optimizers.hpp>
#include <type_traits>

/// The arithmetic of dense updates, one element at a time, for host and device.
namespace tutti::kernels {

enum class DenseStep : std::uint8_t { descent, momentum, nesterov, adagrad, adam };

/// The number of state values per parameter of a step.
TUTTI_FUNCTION constexpr std::size_t dense_states(DenseStep step) {
  return step == DenseStep::descent ? 0 : (step == DenseStep::adam ? 2 : 1);
}

/// Calls visit(std::integral_constant<DenseStep, Step>).
template <typename Visit>
void visit_dense_step(const DenseUpdate& update, const Visit& visit) {
  switch (update.optimizer) {
    case DenseOptimizer::sgd:
      if (update.momentum == 0) return visit(std::integral_constant<DenseStep, DenseStep::descent>());
      if (update.nesterov) return visit(std::integral_constant<DenseStep, DenseStep::nesterov>());
      return visit(std::integral_constant<DenseStep, DenseStep::momentum>());
    case DenseOptimizer::adagrad:
      return visit(std::integral_constant<DenseStep, DenseStep::adagrad>());
    case DenseOptimizer::adam:
      return visit(std::integral_constant<DenseStep, DenseStep::adam>());
  }
}

/// The constants of one step.
template <typename T>
struct DenseRule {
  DenseRule(const DenseUpdate& update, std::uint64_t step)
      : rate(static_cast<T>(update.optimizer == DenseOptimizer::adam
                                ? update.learning_rate / (1 - std::pow(update.beta1, static_cast<double>(step)))
                                : update.learning_rate)),
        decay(static_cast<T>(update.weight_decay)),
        momentum(static_cast<T>(update.momentum)),
        epsilon(static_cast<T>(update.epsilon)),
        weight1(static_cast<T>(1 - update.beta1)),
        keep2(static_cast<T>(update.beta2)),
        weight2(static_cast<T>(1 - update.beta2)),
        correction(static_cast<T>(std::sqrt(1 - std::pow(update.beta2, static_cast<double>(step))))) {}
  T rate;
  T decay;
  T momentum;
  T epsilon;
  T weight1, keep2, weight2;
  T correction;
};

/// Changes one value. `first` is momentum, the sum of squares or Adam's first moment, `second` is Adam's second moment.
template <DenseStep Step, typename T>
[[gnu::always_inline]] TUTTI_FUNCTION void dense_step(const DenseRule<T>& rule, T& parameter, const T& slope, T& first,
                                                      T& second) {
  const T gradient = slope + rule.decay * parameter;
  if constexpr (Step == DenseStep::descent) {
    parameter -= rule.rate * gradient;
  } else if constexpr (Step == DenseStep::momentum || Step == DenseStep::nesterov) {
    const T velocity = rule.momentum * first + gradient;
    first = velocity;
    parameter -= rule.rate * (Step == DenseStep::nesterov ? gradient + rule.momentum * velocity : velocity);
  } else if constexpr (Step == DenseStep::adagrad) {
    first += gradient * gradient;
    parameter -= rule.rate * gradient / (std::sqrt(first) + rule.epsilon);
  } else {
    first = first + rule.weight1 * (gradient - first);
    second = rule.keep2 * second + rule.weight2 * gradient * gradient;
    parameter -= rule.rate * first / (std::sqrt(second) / rule.correction + rule.epsilon);
  }
}

/// Throws tutti::Error for invalid arguments.
void check_dense_update(const DenseUpdate& update, std::uint64_t step, std::size_t parameters, std::size_t gradients,
                        std::size_t state);

}  // namespace tutti::kernels
