// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "training/kernels/device/interaction_sample.hpp"
#include "training/kernels/device/scratch.hpp"

namespace tutti::kernels::device {

/// Values in the scratch of a warp: vectors of a sample, and for backward the matrix of products.
inline std::size_t scratch_values(const InteractionShape& shape, bool is_backward) {
  const std::size_t rows = round_to_tile(shape.features);
  return shape.vector_values() + (is_backward ? rows * rows : 0);
}

/// Throws if the number of inputs differs from the shape's, or if a sample does not fit into the scratch of a warp.
inline InteractionShape interaction_shape(const DotInteraction& shape, std::size_t inputs, bool is_backward) {
  if (shape.features == 0 || inputs != shape.features) {
    throw Error(ErrorCode::invalid_argument, "device::dot_interaction: " + std::to_string(inputs) +
                                                 " pooled vectors for " + std::to_string(shape.features) +
                                                 " features; both must be equal and at least 1");
  }
  // Backward takes parts, so that a processor has scratch for more warps; forward would have to keep sums between them.
  constexpr Count part = 32;
  const auto dim = static_cast<Count>(shape.dim);
  const InteractionShape result{static_cast<Count>(shape.features), dim, shape.itself,
                                is_backward && dim > part ? part : round_to_tile(dim)};
  constexpr std::size_t most = most_scratch_bytes / sizeof(float);
  if (shape.features > most || shape.dim > most || scratch_values(result, is_backward) > most) {
    throw Error(ErrorCode::not_supported, "device::dot_interaction: " + std::to_string(shape.features) +
                                              " features of " + std::to_string(shape.dim) +
                                              " values do not fit into the " + std::to_string(most) +
                                              " values of a warp; use host memory");
  }
  return result;
}

}  // namespace tutti::kernels::device
