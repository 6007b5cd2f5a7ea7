// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <tutti/kernels/interaction.hpp>
#include <vector>

#include "common/cross_network.hpp"

namespace dlrm {

/// How the features of a sample meet: their products in pairs, all of them side by side, or these through a cross
/// network (DCNv2).
enum class InteractionKind { dot, dot_itself, cat, dcn };

/// From the values of --arch-interaction-op and --arch-interaction-itself.
[[nodiscard]] InteractionKind interaction_kind(const std::string& op, bool itself);

struct InteractionShape {
  InteractionKind kind = InteractionKind::dot;
  std::size_t features = 0;    ///< F, the bottom MLP's output included
  std::size_t dim = 0;         ///< D
  std::size_t dcn_layers = 0;  ///< of the cross network, where there is one
  std::size_t dcn_rank = 0;
  /// Width of the result for one sample, in floats.
  [[nodiscard]] std::size_t width() const;
};

/// The interaction of F features of length D. Feature f of sample s is at inputs[f].data + s * inputs[f].stride;
/// feature 0 is the bottom MLP's output. The result is [samples][width()]. Local; one thread at a time.
class Interaction {
 public:
  using Vectors = std::span<const tutti::kernels::Pooled<const float>>;
  using Gradients = std::span<const tutti::kernels::Pooled<float>>;

  /// `products`: of the cross network, where there is one. Its parameters start at zero.
  explicit Interaction(const InteractionShape& shape,
                       tutti::miniapps::Products products = tutti::miniapps::Products::automatic);

  [[nodiscard]] std::size_t width() const { return shape_.width(); }
  void forward(std::size_t samples, Vectors inputs, float* output);
  /// After forward of the same samples: gradients of all features and, where there are any, of the parameters;
  /// overwrites both. `output_gradient` may be overwritten.
  void backward(std::size_t samples, Vectors inputs, float* output_gradient, Gradients input_gradients);

  /// Draws the cross network's first parameters; draws nothing from `random` where there is no cross network.
  void initialize(tutti::miniapps::NumpyRandom& random);
  /// One block each, data parallel as the MLPs'; empty but for dcn.
  [[nodiscard]] std::span<float> parameters() { return cross_ ? cross_->parameters() : std::span<float>{}; }
  [[nodiscard]] std::span<float> gradients() { return cross_ ? cross_->gradients() : std::span<float>{}; }
  /// The cross network's maps; none where there is no cross network.
  [[nodiscard]] std::span<const tutti::miniapps::DenseLayer> maps() const {
    return cross_ ? cross_->maps() : std::span<const tutti::miniapps::DenseLayer>{};
  }
  /// As BasicMlp::keep_parameters.
  void keep_parameters(bool keep);

 private:
  [[nodiscard]] tutti::kernels::DotInteraction dot() const;

  InteractionShape shape_;
  std::optional<tutti::miniapps::CrossNetwork> cross_;
  std::vector<float> joined_;           ///< dcn: [samples][F D]
  std::vector<float> joined_gradient_;  ///< as joined_
};

}  // namespace dlrm
