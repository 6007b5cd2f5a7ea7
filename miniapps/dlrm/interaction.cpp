// SPDX-License-Identifier: BSD-3-Clause
#include "interaction.hpp"

#include <algorithm>

namespace dlrm {

InteractionKind interaction_kind(const std::string& op, bool itself) {
  if (op == "cat") {
    return InteractionKind::cat;
  }
  return itself ? InteractionKind::dot_itself : InteractionKind::dot;
}

Interaction::Interaction(InteractionKind kind, std::size_t features, std::size_t dim)
    : kind_(kind), shape_{.features = features, .dim = dim, .itself = kind == InteractionKind::dot_itself} {}

std::size_t Interaction::width() const {
  return kind_ == InteractionKind::cat ? shape_.features * shape_.dim : shape_.width();
}

void Interaction::forward(std::size_t samples, Vectors inputs, float* output) const {
  if (kind_ != InteractionKind::cat) {
    tutti::kernels::dot_interaction_forward(shape_, samples, inputs, output, width());
    return;
  }
  for (std::size_t s = 0; s < samples; ++s) {
    for (const auto& input : inputs) {
      output = std::copy_n(input.data + s * input.stride, shape_.dim, output);
    }
  }
}

void Interaction::backward(std::size_t samples, Vectors inputs, const float* output_gradient,
                           Gradients input_gradients) const {
  if (kind_ != InteractionKind::cat) {
    tutti::kernels::dot_interaction_backward(shape_, samples, inputs, output_gradient, width(), input_gradients);
    return;
  }
  for (std::size_t s = 0; s < samples; ++s) {
    for (const auto& gradient : input_gradients) {
      std::copy_n(output_gradient, shape_.dim, gradient.data + s * gradient.stride);
      output_gradient += shape_.dim;
    }
  }
}

}  // namespace dlrm
