// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/kernels/device.hpp>

#include "kernels/device/launch.hpp"
#include "kernels/device/row_pack.hpp"

/// The vectors of one sample in the scratch of a warp.
namespace tutti::kernels::device {

inline constexpr std::size_t tile = 4;

TUTTI_FUNCTION constexpr std::size_t round_to_tile(std::size_t n) { return (n + tile - 1) / tile * tile; }

struct InteractionShape {
  std::size_t features;
  std::size_t dim;
  bool itself;
  /// Distance between vectors in scratch, in values: four more than a vector, so that lanes that read the same
  /// dimension of different vectors use different banks.
  [[nodiscard]] TUTTI_FUNCTION std::size_t pitch() const { return round_to_tile(dim) + tile; }
  [[nodiscard]] TUTTI_FUNCTION std::size_t vector_values() const { return round_to_tile(features) * pitch(); }
};

/// Loads all vectors of a sample, with zeros after their ends and after the last.
TUTTI_FUNCTION void load_vectors(const Warp& warp, const InteractionShape& shape, const Pooled<const float>* inputs,
                                 std::size_t sample, bool wide, float* vectors) {
  const std::size_t pieces = shape.pitch() / tile;
  warp.each(round_to_tile(shape.features) * pieces, [&](std::size_t k) {
    const Division at = divide_item(k, pieces);
    const std::size_t column = at.remainder * tile;
    float values[tile] = {};
    if (at.quotient < shape.features && column < shape.dim) {
      const float* from = inputs[at.quotient].data + sample * inputs[at.quotient].stride + column;
      if (wide) {
        load_constant_pack(values, from);
      } else {
        for (std::size_t e = 0; e < tile && column + e < shape.dim; ++e) values[e] = from[e];
      }
    }
    store_pack(vectors + at.quotient * shape.pitch() + column, values);
  });
}

/// The place in an output row where the products of row `row` begin.
TUTTI_FUNCTION std::size_t first_product(const InteractionShape& shape, std::size_t row) {
  return shape.dim + (shape.itself ? row * (row + 1) / 2 : row * (row - (row > 0 ? 1 : 0)) / 2);
}

/// Pooled vectors without padding, that can be read four values at a time.
[[nodiscard]] inline bool is_wide_feature(const Pooled<const float>& feature, std::size_t dim) {
  return dim % tile == 0 && feature.stride % tile == 0 && is_aligned(feature.data);
}

}  // namespace tutti::kernels::device
