// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/detail/export.hpp>
#include <tutti/kernels/embedding_bag.hpp>

namespace tutti::kernels {

/// The shape of a dot interaction of F vectors of D values per sample, as in facebookresearch/dlrm. An output row is
/// vector 0, followed by the products of the pairs (1,0), (2,0), (2,1), ...: the strictly lower triangle, row by row.
struct DotInteraction {
  std::size_t features = 0;    ///< F, including the dense vector
  std::size_t dim = 0;         ///< D
  bool itself = false;         ///< includes the diagonal: (0,0), (1,0), (1,1), ...
  std::size_t partitions = 0;  ///< parts of the work; 0: one per Kokkos host thread. Results do not depend on it

  /// The number of products in an output row.
  [[nodiscard]] std::size_t pairs() const {
    return itself ? features * (features + 1) / 2 : features * (features - (features > 0 ? 1 : 0)) / 2;
  }
  /// The number of values in an output row.
  [[nodiscard]] std::size_t width() const { return dim + pairs(); }
};

/// Computes output row b = [x, products] at output + b * stride. Sample b of feature f is at inputs[f].data + b *
/// inputs[f].stride, so no concatenated copy is needed. Feature 0 is the dense vector x. All values are float32 in host
/// memory, owned by the caller; strides are in elements. A product sums in the order of the dimensions. Local,
/// blocking. Throws Error(invalid_argument) for spans of wrong length.
TUTTI_EXPORT void dot_interaction_forward(const DotInteraction& shape, std::size_t samples,
                                          std::span<const Pooled<const float>> inputs, float* output,
                                          std::size_t stride);

/// Computes the gradients of all features from the gradients of the output rows. Overwrites input_gradients, which must
/// not overlap the inputs or output_gradient. Otherwise as dot_interaction_forward.
TUTTI_EXPORT void dot_interaction_backward(const DotInteraction& shape, std::size_t samples,
                                           std::span<const Pooled<const float>> inputs, const float* output_gradient,
                                           std::size_t stride, std::span<const Pooled<float>> input_gradients);

}  // namespace tutti::kernels
