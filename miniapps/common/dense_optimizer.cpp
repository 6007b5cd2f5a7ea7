// SPDX-License-Identifier: BSD-3-Clause
#include "dense_optimizer.hpp"

#include <cmath>
#include <cstddef>

namespace tutti::miniapps {

void sgd_update(std::span<float> parameters, std::span<const float> gradients, float rate) {
  float* __restrict p = parameters.data();
  const float* __restrict g = gradients.data();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    p[i] -= rate * g[i];
  }
}

void adagrad_update(std::span<float> parameters, std::span<const float> gradients, std::span<float> state, float rate,
                    float epsilon) {
  float* __restrict p = parameters.data();
  float* __restrict s = state.data();
  const float* __restrict g = gradients.data();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    s[i] += g[i] * g[i];
    p[i] -= rate * g[i] / (std::sqrt(s[i]) + epsilon);
  }
}

}  // namespace tutti::miniapps
