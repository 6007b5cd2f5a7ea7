// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
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

/// How the learning rate changes. A linear warm-up from base / warmup_steps, then: constant; base times factor for
/// every `every` steps; or half a cosine from base to base * factor at the last step (Loshchilov and Hutter 2017).
struct Schedule {
  std::string kind = "constant";  ///< constant, step, cosine
  double base = 0.1;
  std::uint64_t warmup_steps = 0;
  std::uint64_t every = 1000;
  double factor = 0.1;
  std::uint64_t last_step = 0;

  /// The rate of step `step`, counted from 1. A pure function.
  [[nodiscard]] double at(std::uint64_t step) const;
};

}  // namespace sgd
