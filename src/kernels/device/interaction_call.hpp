// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "kernels/device/interaction_sample.hpp"
#include "kernels/device/scratch.hpp"

namespace tutti::kernels::device {

/// Throws if the number of inputs differs from the shape's, or if a sample does not fit into the memory of a block
/// together with `further` values.
inline InteractionShape interaction_shape(const DotInteraction& shape, std::size_t inputs, std::size_t further) {
  if (shape.features == 0 || inputs != shape.features) {
    throw Error(ErrorCode::invalid_argument, "device::dot_interaction: " + std::to_string(inputs) +
                                                 " pooled vectors for " + std::to_string(shape.features) +
                                                 " features; both must be equal and at least 1");
  }
  const InteractionShape result{shape.features, shape.dim, shape.itself};
  if ((result.vector_values() + further) * sizeof(float) > most_scratch_bytes) {
    throw Error(ErrorCode::not_supported, "device::dot_interaction: " + std::to_string(shape.features) +
                                              " features of " + std::to_string(shape.dim) +
                                              " values do not fit into the memory of a block; use host memory");
  }
  return result;
}

}  // namespace tutti::kernels::device
