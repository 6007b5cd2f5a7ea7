// SPDX-License-Identifier: BSD-3-Clause
#include "device_interaction.hpp"

#include "common/device/dense_kernels.hpp"

namespace dlrm {

namespace mini = tutti::miniapps;

DeviceInteraction::DeviceInteraction(const InteractionShape& shape, const mini::device::StackShape& cross,
                                     bool operands_are_bfloat16, mini::device::Cublas& products, const Gpu& gpu)
    : shape_(shape), gpu_(&gpu) {
  if (shape.kind != InteractionKind::dcn) {
    return;
  }
  cross_.emplace(cross, operands_are_bfloat16, products, gpu.stream());
  joined_ = mini::device::Array<float>(cross.max_samples * shape.width());
  joined_gradient_ = mini::device::Array<float>(cross.max_samples * shape.width());
}

void DeviceInteraction::forward(std::size_t samples, Vectors inputs, float* output) {
  switch (shape_.kind) {
    case InteractionKind::cat:
      mini::device::join(samples, inputs, shape_.dim, output, gpu_->stream());
      break;
    case InteractionKind::dcn:
      mini::device::join(samples, inputs, shape_.dim, joined_.data(), gpu_->stream());
      cross_->forward(joined_.data(), samples, output);
      break;
    default:
      tutti::kernels::device::dot_interaction_forward(dot(), samples, inputs, output, shape_.width(), workspace_,
                                                      gpu_->call_stream());
  }
}

void DeviceInteraction::backward(std::size_t samples, Vectors inputs, float* output_gradient,
                                 Gradients input_gradients) {
  switch (shape_.kind) {
    case InteractionKind::cat:
      mini::device::part(samples, output_gradient, shape_.dim, input_gradients, gpu_->stream());
      break;
    case InteractionKind::dcn:
      cross_->backward(joined_.data(), output_gradient, joined_gradient_.data());
      mini::device::part(samples, joined_gradient_.data(), shape_.dim, input_gradients, gpu_->stream());
      break;
    default:
      tutti::kernels::device::dot_interaction_backward(dot(), samples, inputs, output_gradient, shape_.width(),
                                                       input_gradients, workspace_, gpu_->call_stream());
  }
}

void DeviceInteraction::keep_parameters(bool keep) {
  if (cross_) {
    cross_->keep_parameters(keep);
  }
}

}  // namespace dlrm
