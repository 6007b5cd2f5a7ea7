// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "training/kernels/device/interaction_call.hpp"
#include "training/kernels/device/interaction_sample.hpp"

namespace tutti::kernels::device {

namespace {

/// Item: one sample. A lane multiplies four vectors with four at a time, dimension after dimension.
struct ForwardBody {
  InteractionShape shape;
  const Pooled<const float>* inputs;
  float* output;
  std::size_t stride;
  bool wide;

  template <typename Warp>
  TUTTI_FUNCTION void operator()(const Warp& warp, std::size_t sample) const {
    auto* vectors = warp.template scratch<float>();
    float* const row = output + sample * stride;
    load_vectors<8>(warp, shape, inputs, sample, wide, 0, vectors);
    warp.each(shape.dim, [&](std::size_t d) { row[d] = vectors[d]; });
    const Count tiles = round_to_tile(shape.features) / tile;
    warp.each(tiles * (tiles + 1) / 2, [&](std::size_t k) {
      const auto number = static_cast<Count>(k);
      Count below = 0;
      while ((below + 1) * (below + 2) / 2 <= number) ++below;
      multiply_tile(vectors, row, tiles, below, number - below * (below + 1) / 2);
    });
  }

  /// The vectors of a tile lie `tiles` apart: so lanes, which have neighbouring tiles, read different banks.
  TUTTI_FUNCTION void multiply_tile(const float* vectors, float* row, Count tiles, Count first, Count second) const {
    const Count distance = tiles * shape.pitch();
    const float* const lefts = vectors + first * shape.pitch();
    const float* const rights = vectors + second * shape.pitch();
    float sum[tile][tile] = {};
    for (Count d = 0; d < shape.dim; d += tile) {
      float left[tile][tile];
      float right[tile][tile];
      TUTTI_UNROLL
      for (Count k = 0; k < tile; ++k) {
        load_pack(left[k], lefts + k * distance + d);
        load_pack(right[k], rights + k * distance + d);
      }
      TUTTI_UNROLL
      for (Count e = 0; e < tile; ++e) {
        TUTTI_UNROLL
        for (Count a = 0; a < tile; ++a) {
          TUTTI_UNROLL
          for (Count b = 0; b < tile; ++b) sum[a][b] += right[b][e] * left[a][e];
        }
      }
    }
    TUTTI_UNROLL
    for (Count a = 0; a < tile; ++a) {
      TUTTI_UNROLL
      for (Count b = 0; b < tile; ++b) store_product(row, first + a * tiles, second + b * tiles, sum[a][b]);
    }
  }

  TUTTI_FUNCTION void store_product(float* row, Count i, Count j, float product) const {
    const Count higher = i > j ? i : j;
    const Count lower = i > j ? j : i;
    if (higher < shape.features && (lower < higher || shape.itself))
      row[first_product(shape, higher) + lower] = product;
  }
};

}  // namespace

void dot_interaction_forward(const DotInteraction& shape, std::size_t samples,
                             std::span<const Pooled<const float>> inputs, float* output, std::size_t stride,
                             Workspace& workspace, Stream stream) {
  const InteractionShape device_shape = interaction_shape(shape, inputs.size(), false);
  const std::vector<Pooled<const float>> features(inputs.begin(), inputs.end());
  const bool wide = std::all_of(features.begin(), features.end(),
                                [&](const auto& feature) { return is_wide_feature(feature, shape.dim); });
  if (samples == 0) return;
  const auto* on_device = entered(workspace, handle_of(stream)).upload(features, handle_of(stream));
  launch_warps(handle_of(stream), samples, scratch_values(device_shape, false) * sizeof(float),
               ForwardBody{device_shape, on_device, output, stride, wide});
}

}  // namespace tutti::kernels::device
