// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <tutti/kernels/interaction.hpp>

namespace dlrm {

/// How the features of a sample meet: their products in pairs, or all of them side by side.
enum class InteractionKind { dot, dot_itself, cat };

/// From the values of --arch-interaction-op and --arch-interaction-itself.
[[nodiscard]] InteractionKind interaction_kind(const std::string& op, bool itself);

/// The interaction of F features of length D. Feature f of sample s is at inputs[f].data + s * inputs[f].stride;
/// feature 0 is the bottom MLP's output. The result is [samples][width()]. Local.
class Interaction {
 public:
  using Vectors = std::span<const tutti::kernels::Pooled<const float>>;
  using Gradients = std::span<const tutti::kernels::Pooled<float>>;

  Interaction(InteractionKind kind, std::size_t features, std::size_t dim);

  [[nodiscard]] std::size_t width() const;
  void forward(std::size_t samples, Vectors inputs, float* output) const;
  /// Gradients of all features; overwrites.
  void backward(std::size_t samples, Vectors inputs, const float* output_gradient, Gradients input_gradients) const;

 private:
  InteractionKind kind_;
  tutti::kernels::DotInteraction shape_;
};

}  // namespace dlrm
