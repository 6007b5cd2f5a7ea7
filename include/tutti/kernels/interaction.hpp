// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/detail/export.hpp>
#include <tutti/kernels/embedding_bag.hpp>

namespace tutti::kernels {

/// Shape of a dot interaction of F vectors of D values a sample, as in facebookresearch/dlrm: an output row is vector 0
/// followed by the products of the pairs (1,0), (2,0), (2,1), ...: the strictly lower triangle row by row.
struct DotInteraction {
  std::size_t features = 0;    ///< F, the dense vector included
  std::size_t dim = 0;         ///< D
  bool itself = false;         ///< with the diagonal: (0,0), (1,0), (1,1), ...
  std::size_t partitions = 0;  ///< pieces of work, 0: one a thread of Kokkos' host space. Results do not depend on it

  [[nodiscard]] std::size_t pairs() const {
    return itself ? features * (features + 1) / 2 : features * (features - (features > 0 ? 1 : 0)) / 2;
  }
  /// Values of an output row.
  [[nodiscard]] std::size_t width() const { return dim + pairs(); }
};

/// output row b = [x, products], at output + b * stride, from sample b of feature f at inputs[f].data + b *
/// inputs[f].stride, all float32 in host memory. Feature 0 is the dense vector x; no concatenated copy is needed.
/// Local, blocking. A product sums in the order of the dimensions. Throws Error(invalid_argument) for spans of another
/// length.
TUTTI_EXPORT void dot_interaction_forward(const DotInteraction& shape, std::size_t samples,
                                          std::span<const Pooled<const float>> inputs, float* output,
                                          std::size_t stride);

/// The gradients of all features from those of the output rows; overwrites input_gradients, which must not overlap
/// what is read. As dot_interaction_forward otherwise.
TUTTI_EXPORT void dot_interaction_backward(const DotInteraction& shape, std::size_t samples,
                                           std::span<const Pooled<const float>> inputs, const float* output_gradient,
                                           std::size_t stride, std::span<const Pooled<float>> input_gradients);

}  // namespace tutti::kernels
