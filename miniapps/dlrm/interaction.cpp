// SPDX-License-Identifier: BSD-3-Clause
#include "interaction.hpp"

#include <algorithm>

namespace dlrm {

namespace {

/// All features of a sample side by side.
void join(std::size_t samples, Interaction::Vectors inputs, std::size_t dim, float* output) {
  for (std::size_t s = 0; s < samples; ++s) {
    for (const auto& input : inputs) {
      output = std::copy_n(input.data + s * input.stride, dim, output);
    }
  }
}

void part(std::size_t samples, const float* joined, std::size_t dim, Interaction::Gradients outputs) {
  for (std::size_t s = 0; s < samples; ++s) {
    for (const auto& output : outputs) {
      std::copy_n(joined, dim, output.data + s * output.stride);
      joined += dim;
    }
  }
}

}  // namespace

InteractionKind interaction_kind(const std::string& op, bool itself) {
  if (op == "cat") {
    return InteractionKind::cat;
  }
  if (op == "dcn") {
    return InteractionKind::dcn;
  }
  return itself ? InteractionKind::dot_itself : InteractionKind::dot;
}

std::size_t InteractionShape::width() const {
  if (kind == InteractionKind::cat || kind == InteractionKind::dcn) {
    return features * dim;
  }
  return tutti::kernels::DotInteraction{features, dim, kind == InteractionKind::dot_itself}.width();
}

Interaction::Interaction(const InteractionShape& shape, tutti::miniapps::Products products) : shape_(shape) {
  if (shape.kind == InteractionKind::dcn) {
    cross_.emplace(shape.width(), shape.dcn_rank, shape.dcn_layers, products);
  }
}

tutti::kernels::DotInteraction Interaction::dot() const {
  return {.features = shape_.features, .dim = shape_.dim, .itself = shape_.kind == InteractionKind::dot_itself};
}

void Interaction::forward(std::size_t samples, Vectors inputs, float* output) {
  switch (shape_.kind) {
    case InteractionKind::cat:
      join(samples, inputs, shape_.dim, output);
      break;
    case InteractionKind::dcn:
      joined_.resize(std::max(joined_.size(), samples * width()));
      join(samples, inputs, shape_.dim, joined_.data());
      cross_->forward(joined_.data(), samples, output);
      break;
    default:
      tutti::kernels::dot_interaction_forward(dot(), samples, inputs, output, width());
  }
}

void Interaction::backward(std::size_t samples, Vectors inputs, float* output_gradient, Gradients input_gradients) {
  switch (shape_.kind) {
    case InteractionKind::cat:
      part(samples, output_gradient, shape_.dim, input_gradients);
      break;
    case InteractionKind::dcn:
      joined_gradient_.resize(std::max(joined_gradient_.size(), samples * width()));
      cross_->backward(joined_.data(), output_gradient, joined_gradient_.data());
      part(samples, joined_gradient_.data(), shape_.dim, input_gradients);
      break;
    default:
      tutti::kernels::dot_interaction_backward(dot(), samples, inputs, output_gradient, width(), input_gradients);
  }
}

void Interaction::initialize(tutti::miniapps::NumpyRandom& random) {
  if (cross_) {
    cross_->initialize(random);
  }
}

void Interaction::keep_parameters(bool keep) {
  if (cross_) {
    cross_->keep_parameters(keep);
  }
}

}  // namespace dlrm
