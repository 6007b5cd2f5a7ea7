// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/kernels/device.hpp>
#include <tutti/kernels/launch.hpp>

#include "training/kernels/device/row_pack.hpp"

/// The vectors of one sample in the scratch of a warp, all columns or a part of them at a time.
namespace tutti::kernels::device {

/// Numbers of 32 bits: a sample fits into the scratch memory, and a device divides and multiplies them faster.
using Count = std::uint32_t;

inline constexpr Count tile = 4;

TUTTI_FUNCTION constexpr Count round_to_tile(Count n) { return (n + tile - 1) / tile * tile; }

struct InteractionShape {
  Count features;
  Count dim;
  bool itself;
  Count part;  ///< columns that are in scratch at a time, a multiple of tile
  /// Columns of the part that begins with column `first`, with those after the end.
  [[nodiscard]] TUTTI_FUNCTION Count columns_from(Count first) const {
    return dim - first < part ? round_to_tile(dim - first) : part;
  }
  /// Distance between vectors in scratch, in values: four more than a part, so that lanes that read the same column of
  /// different vectors use different banks.
  [[nodiscard]] TUTTI_FUNCTION Count pitch() const { return part + tile; }
  [[nodiscard]] TUTTI_FUNCTION Count vector_values() const { return round_to_tile(features) * pitch(); }
};

/// Calls load(i, value) and then store(i, value) for i = first, first + step, … below `end`, with several loads in
/// flight: one after another would take most of the time of a sample.
template <Count InFlight, typename Value, typename Load, typename Store>
TUTTI_FUNCTION void move_many(Count first, Count end, Count step, const Load& load, const Store& store) {
  for (Count begin = first; begin < end; begin += InFlight * step) {
    Value values[InFlight];
    TUTTI_UNROLL
    for (Count u = 0; u < InFlight; ++u) {
      if (begin + u * step < end) load(begin + u * step, values[u]);
    }
    TUTTI_UNROLL
    for (Count u = 0; u < InFlight; ++u) {
      if (begin + u * step < end) store(begin + u * step, values[u]);
    }
  }
}

/// Loads a part of all vectors of a sample, with zeros after their ends and after the last. A lane has some columns of
/// every vector, or of every second or fourth where a part is short.
template <Count InFlight, typename Warp>
TUTTI_FUNCTION void load_vectors(const Warp& warp, const InteractionShape& shape, const Pooled<const float>* inputs,
                                 std::size_t sample, bool wide, Count begin, float* vectors) {
  struct Piece {
    float values[tile];
  };
  const Count pieces = shape.columns_from(begin) / tile;
  if (pieces == 0) return;
  const Count step = pieces < warp_lanes ? warp_lanes / pieces : 1;
  warp.each(pieces * step, [&](std::size_t k) {
    const auto lane = static_cast<Count>(k);
    const Count first = lane / pieces;
    const Count column = (lane - first * pieces) * tile;
    const auto load = [&](Count f, Piece& piece) {
      piece = {};
      if (f >= shape.features) return;
      const float* from = inputs[f].data + sample * inputs[f].stride + begin + column;
      if (wide) return load_constant_pack(piece.values, from);
      TUTTI_UNROLL
      for (Count e = 0; e < tile; ++e) {
        if (begin + column + e < shape.dim) piece.values[e] = from[e];
      }
    };
    const auto store = [&](Count f, const Piece& piece) {
      store_pack(vectors + f * shape.pitch() + column, piece.values);
    };
    move_many<InFlight, Piece>(first, round_to_tile(shape.features), step, load, store);
  });
}

/// The place in an output row where the products of row `row` begin.
TUTTI_FUNCTION Count first_product(const InteractionShape& shape, Count row) {
  return shape.dim + (shape.itself ? row * (row + 1) / 2 : row * (row - (row > 0 ? 1 : 0)) / 2);
}

/// Pooled vectors without padding, that can be read four values at a time.
[[nodiscard]] inline bool is_wide_feature(const Pooled<const float>& feature, std::size_t dim) {
  return dim % tile == 0 && feature.stride % tile == 0 && is_aligned(feature.data);
}

}  // namespace tutti::kernels::device
