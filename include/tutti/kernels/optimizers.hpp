// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tutti/detail/export.hpp>

namespace tutti::kernels {

enum class DenseOptimizer : std::uint8_t {
  sgd,      ///< with momentum u = momentum * u + g; w -= lr * (nesterov ? g + momentum * u : u), else w -= lr * g
  adagrad,  ///< s += g^2; w -= lr * g / (sqrt(s) + epsilon)
  adam,     ///< Kingma and Ba 2015, Algorithm 1, with bias correction
};

/// As torch.optim.SGD (the first step sets u = g), Adagrad and Adam. In all of them first g += weight_decay * w.
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

/// Values of state a parameter needs: 0, 1 (momentum, adagrad) or 2 (adam).
[[nodiscard]] TUTTI_EXPORT std::size_t state_values(const DenseUpdate& update);

/// One step, number `step` counted from 1. state: state_values() blocks of parameters.size() values, zero before the
/// first step. Local, blocking, host memory. Each element's result depends on that element alone, so sharding changes
/// no bit. Throws Error(invalid_argument) for spans of unequal lengths.
TUTTI_EXPORT void dense_update(const DenseUpdate& update, std::uint64_t step, std::span<float> parameters,
                               std::span<const float> gradients, std::span<float> state);
TUTTI_EXPORT void dense_update(const DenseUpdate& update, std::uint64_t step, std::span<double> parameters,
                               std::span<const double> gradients, std::span<double> state);

}  // namespace tutti::kernels
