// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <tutti/kernels/device.hpp>

#include "../interaction.hpp"
#include "common/device/cross_network.hpp"
#include "gpu.hpp"

namespace dlrm {

/// Interaction on the GPU: all that it is given is in device memory; in the order of the GPU's stream.
class DeviceInteraction {
 public:
  using Vectors = Interaction::Vectors;
  using Gradients = Interaction::Gradients;

  /// `cross`: of the cross network, where there is one.
  DeviceInteraction(const InteractionShape& shape, const tutti::miniapps::device::StackShape& cross,
                    bool operands_are_bfloat16, tutti::miniapps::device::Cublas& products, const Gpu& gpu);

  void forward(std::size_t samples, Vectors inputs, float* output);
  /// As Interaction::backward; also overwrites `output_gradient`.
  void backward(std::size_t samples, Vectors inputs, float* output_gradient, Gradients input_gradients);
  void keep_parameters(bool keep);

 private:
  [[nodiscard]] tutti::kernels::DotInteraction dot() const {
    return {.features = shape_.features, .dim = shape_.dim, .itself = shape_.kind == InteractionKind::dot_itself};
  }

  InteractionShape shape_;
  const Gpu* gpu_;
  tutti::kernels::device::Workspace workspace_;
  std::optional<tutti::miniapps::device::CrossNetwork> cross_;
  tutti::miniapps::device::Array<float> joined_;           ///< dcn: [samples][F D]
  tutti::miniapps::device::Array<float> joined_gradient_;  ///< as joined_
};

}  // namespace dlrm
