// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "training/kernels/device/interaction_call.hpp"
#include "training/kernels/device/interaction_sample.hpp"

namespace tutti::kernels::device {

namespace {

/// Item: one sample. The gradients of the products are a symmetric matrix whose diagonal counts twice; a lane makes
/// four dimensions of four vectors' gradients at a time.
struct BackwardBody {
  static constexpr unsigned blocks_at_once = 3;
  InteractionShape shape;
  const Pooled<const float>* inputs;
  const Pooled<float>* gradients;
  const float* output_gradient;
  std::size_t stride;
  bool wide;

  template <typename Warp>
  TUTTI_FUNCTION void operator()(const Warp& warp, std::size_t sample) const {
    auto* vectors = warp.template scratch<float>();
    float* const matrix = vectors + shape.vector_values();
    const float* const gradient = output_gradient + sample * stride;
    const Count columns = round_to_tile(shape.features);
    load_matrix(warp, gradient, columns, matrix);
    for (Count begin = 0; begin < shape.dim; begin += shape.part) {
      load_vectors<4>(warp, shape, inputs, sample, wide, begin, vectors);
      const Count pieces = shape.columns_from(begin) / tile;
      warp.each(columns / tile * pieces, [&](std::size_t k) {
        const Count first = static_cast<Count>(k) / pieces;
        const Count column = (static_cast<Count>(k) - first * pieces) * tile;
        multiply_tile(vectors + column, matrix, gradient, sample, first * tile, begin + column);
      });
    }
  }

  /// A lane has every 32nd product, and knows the row of one from the row of the one before.
  template <typename Warp>
  TUTTI_FUNCTION void load_matrix(const Warp& warp, const float* gradient, Count columns, float* matrix) const {
    constexpr float zeros[tile] = {};
    warp.each(columns * columns / tile, [&](std::size_t k) { store_pack(matrix + k * tile, zeros); });
    warp.each(warp_lanes, [&](std::size_t lane) {
      Count row = 0;
      const auto load = [&](Count at, float& value) { value = gradient[at]; };
      const auto store = [&](Count at, float value) {
        while (first_product(shape, row + 1) <= at) ++row;
        const Count column = at - first_product(shape, row);
        matrix[row * columns + column] = row == column ? 2.0F * value : value;
        if (row != column) matrix[column * columns + row] = value;
      };
      move_many<4, float>(shape.dim + static_cast<Count>(lane), first_product(shape, shape.features), warp_lanes, load,
                          store);
    });
  }

  /// vectors: column `column` of the first.
  TUTTI_FUNCTION void multiply_tile(const float* vectors, const float* matrix, const float* gradient,
                                    std::size_t sample, Count first, Count column) const {
    const Count columns = round_to_tile(shape.features);
    float sum[tile][tile] = {};
    for (Count f = 0; f < shape.features; ++f) {
      float vector[tile];
      float weight[tile];
      load_pack(vector, vectors + f * shape.pitch());
      load_pack(weight, matrix + f * columns + first);
      TUTTI_UNROLL
      for (Count a = 0; a < tile; ++a) {
        TUTTI_UNROLL
        for (Count e = 0; e < tile; ++e) sum[a][e] += vector[e] * weight[a];
      }
    }
    if (first == 0) {
      TUTTI_UNROLL
      for (Count e = 0; e < tile; ++e) {
        if (column + e < shape.dim) sum[0][e] += gradient[column + e];
      }
    }
    TUTTI_UNROLL
    for (Count a = 0; a < tile; ++a) {
      if (first + a >= shape.features) continue;
      float* to = gradients[first + a].data + sample * gradients[first + a].stride + column;
      if (wide) {
        store_pack(to, sum[a]);
      } else {
        TUTTI_UNROLL
        for (Count e = 0; e < tile; ++e) {
          if (column + e < shape.dim) to[e] = sum[a][e];
        }
      }
    }
  }
};

}  // namespace

void dot_interaction_backward(const DotInteraction& shape, std::size_t samples,
                              std::span<const Pooled<const float>> inputs, const float* output_gradient,
                              std::size_t stride, std::span<const Pooled<float>> input_gradients, Workspace& workspace,
                              Stream stream) {
  const InteractionShape device_shape = interaction_shape(shape, inputs.size(), true);
  static_cast<void>(interaction_shape(shape, input_gradients.size(), true));
  const std::vector<Pooled<const float>> features(inputs.begin(), inputs.end());
  const std::vector<Pooled<float>> gradients(input_gradients.begin(), input_gradients.end());
  bool wide = true;
  for (std::size_t f = 0; f < shape.features; ++f) {
    wide = wide && is_wide_feature(features[f], shape.dim) &&
           is_wide_feature({gradients[f].data, gradients[f].stride}, shape.dim);
  }
  if (samples == 0) return;
  auto& scratch = entered(workspace, handle_of(stream));
  const auto* inputs_there = scratch.upload(features, handle_of(stream));
  const auto* gradients_there = scratch.upload(gradients, handle_of(stream));
  launch_warps(handle_of(stream), samples, scratch_values(device_shape, true) * sizeof(float),
               BackwardBody{device_shape, inputs_there, gradients_there, output_gradient, stride, wide});
}

}  // namespace tutti::kernels::device
