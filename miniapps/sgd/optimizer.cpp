// SPDX-License-Identifier: BSD-3-Clause
#include "optimizer.hpp"

#include <cmath>
#include <tutti/kernels/norms.hpp>

#include "byte_stream.hpp"

namespace sgd {

namespace kernels = tutti::kernels;

kernels::DenseUpdate dense_update_of(const Options& o) {
  kernels::DenseUpdate update;
  update.optimizer = o.optimizer == "adam"      ? kernels::DenseOptimizer::adam
                     : o.optimizer == "adagrad" ? kernels::DenseOptimizer::adagrad
                                                : kernels::DenseOptimizer::sgd;
  update.learning_rate = o.learning_rate;
  update.momentum = o.momentum;
  update.nesterov = o.nesterov;
  update.weight_decay = o.weight_decay;
  return update;
}

template <typename Float>
Optimizer<Float>::Optimizer(const kernels::DenseUpdate& update, std::vector<Tensor<Float>> tensors, double clip)
    : update_(update), tensors_(std::move(tensors)), clip_(clip) {
  for (const auto& tensor : tensors_) {
    state_.emplace_back(kernels::state_values(update) * tensor.value.size());
  }
}

template <typename Float>
void Optimizer<Float>::clip_gradients() {
  constexpr auto type = std::is_same_v<Float, float> ? tutti::DatatypeKind::float32 : tutti::DatatypeKind::float64;
  double squares = 0;
  for (const auto& t : tensors_) {
    squares += kernels::norm_part(kernels::Norm::l2, type, t.gradient.data(), t.gradient.size());
  }
  const double norm = std::sqrt(squares);
  if (norm <= clip_) {
    return;
  }
  const auto scale = static_cast<Float>(clip_ / norm);
  for (const auto& t : tensors_) {
    for (Float& g : t.gradient) {
      g *= scale;
    }
  }
}

template <typename Float>
void Optimizer<Float>::step(double learning_rate) {
  if (clip_ > 0) {
    clip_gradients();
  }
  update_.learning_rate = learning_rate;
  ++steps_;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    kernels::dense_update(update_, steps_, tensors_[i].value, std::span<const Float>(tensors_[i].gradient),
                          std::span(state_[i]));
  }
}

template <typename Float>
std::vector<std::byte> Optimizer<Float>::save() const {
  std::vector<std::byte> block;
  append_bytes(block, std::span(&steps_, 1));
  for (const auto& state : state_) {
    append_bytes(block, std::span<const Float>(state));
  }
  return block;
}

template <typename Float>
void Optimizer<Float>::load(std::span<const std::byte> block) {
  take_bytes(block, std::span(&steps_, 1));
  for (auto& state : state_) {
    take_bytes(block, std::span<Float>(state));
  }
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace sgd
