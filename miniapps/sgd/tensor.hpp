// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sgd {

/// A parameter of a model with its gradient. The model owns both.
template <typename Float>
struct Tensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::span<Float> value;
  std::span<Float> gradient;
};

template <typename Float>
[[nodiscard]] std::size_t total_values(const std::vector<Tensor<Float>>& tensors) {
  std::size_t sum = 0;
  for (const auto& t : tensors) {
    sum += t.value.size();
  }
  return sum;
}

}  // namespace sgd
