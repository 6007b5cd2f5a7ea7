// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tutti/kernels/optimizers.hpp>
#include <vector>

#include "options.hpp"
#include "tensor.hpp"

namespace sgd {

[[nodiscard]] tutti::kernels::DenseUpdate dense_update_of(const Options& options);

/// Updates all tensors of this rank's replica by their gradients, after clipping by their global norm. Local. The
/// tensors outlive it.
template <typename Float>
class Optimizer {
 public:
  /// `clip` 0: not.
  Optimizer(const tutti::kernels::DenseUpdate& update, std::vector<Tensor<Float>> tensors, double clip);
  void step(double learning_rate);
  [[nodiscard]] std::vector<std::byte> save() const;
  /// Throws tutti::Error (io) where the size differs.
  void load(std::span<const std::byte> state);

 private:
  void clip_gradients();

  tutti::kernels::DenseUpdate update_;
  std::vector<Tensor<Float>> tensors_;
  double clip_;
  std::uint64_t steps_ = 0;
  std::vector<std::vector<Float>> state_;
};

extern template class Optimizer<float>;
extern template class Optimizer<double>;

}  // namespace sgd
