// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/kernels/device.hpp>
#include <tutti/kernels/launch.hpp>

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

/// Calls load(k, value) for every k < count, and then store(k, value): each lane has several loads in flight, because
/// one after another would take the most time of all.
template <typename Value, typename Warp, typename Load, typename Store>
TUTTI_FUNCTION void move_many(const Warp& warp, std::size_t count, const Load& load, const Store& store) {
  constexpr std::size_t in_flight = 8;
  const std::size_t distance = (count + in_flight - 1) / in_flight;
  warp.each(distance, [&](std::size_t first) {
    Value values[in_flight];
    TUTTI_UNROLL
    for (std::size_t u = 0; u < in_flight; ++u) {
      if (first + u * distance < count) load(first + u * distance, values[u]);
    }
    TUTTI_UNROLL
    for (std::size_t u = 0; u < in_flight; ++u) {
      if (first + u * distance < count) store(first + u * distance, values[u]);
    }
  });
}

/// Loads all vectors of a sample, with zeros after their ends and after the last.
template <typename Warp>
TUTTI_FUNCTION void load_vectors(const Warp& warp, const InteractionShape& shape, const Pooled<const float>* inputs,
                                 std::size_t sample, bool wide, float* vectors) {
  struct Piece {
    float values[tile];
  };
  const std::size_t pieces = shape.pitch() / tile;
  const auto load = [&](std::size_t k, Piece& piece) {
    const Division at = divide_item(k, pieces);
    const std::size_t column = at.remainder * tile;
    piece = {};
    if (at.quotient >= shape.features || column >= shape.dim) return;
    const float* from = inputs[at.quotient].data + sample * inputs[at.quotient].stride + column;
    if (wide) return load_constant_pack(piece.values, from);
    for (std::size_t e = 0; e < tile && column + e < shape.dim; ++e) piece.values[e] = from[e];
  };
  move_many<Piece>(warp, round_to_tile(shape.features) * pieces, load,
                   [&](std::size_t k, const Piece& piece) { store_pack(vectors + k * tile, piece.values); });
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
