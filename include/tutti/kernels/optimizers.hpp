// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tutti/detail/export.hpp>

namespace tutti::kernels {

/// The optimizers of dense parameters.
enum class DenseOptimizer : std::uint8_t {
  sgd,      ///< with momentum u = momentum * u + g; w -= lr * (nesterov ? g + momentum * u : u), else w -= lr * g
  adagrad,  ///< s += g^2; w -= lr * g / (sqrt(s) + epsilon)
  adam,     ///< Kingma and Ba 2015, Algorithm 1, with bias correction
};

/// The settings of an optimizer, with the meanings of torch.optim.SGD (the first step sets u = g), Adagrad and Adam.
/// Each first adds weight decay: g += weight_decay * w.
struct DenseUpdate {
  DenseOptimizer optimizer = DenseOptimizer::sgd;
  double learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

/// The number of state values per parameter: 0, 1 (momentum, adagrad) or 2 (adam).
[[nodiscard]] TUTTI_EXPORT std::size_t state_values(const DenseUpdate& update);

/// Updates the parameters by one step; `step` counts from 1. state has state_values() blocks of parameters.size()
/// values, zero before the first step. Local, blocking, host memory owned by the caller. The result of each element
/// depends on that element alone, so sharding changes no bit. Throws Error(invalid_argument) for spans of unequal
/// length.
TUTTI_EXPORT void dense_update(const DenseUpdate& update, std::uint64_t step, std::span<float> parameters,
                               std::span<const float> gradients, std::span<float> state);
TUTTI_EXPORT void dense_update(const DenseUpdate& update, std::uint64_t step, std::span<double> parameters,
                               std::span<const double> gradients, std::span<double> state);

}  // namespace tutti::kernels
