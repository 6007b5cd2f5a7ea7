// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <tutti/error.hpp>
#include <tutti/kernels/interaction.hpp>
#include <vector>

#include "core/arithmetic.hpp"
#include "kernels/parallel.hpp"
#include "training/kernels/lanes.hpp"

namespace tutti::kernels {

namespace {

using detail::round_up;

using Lanes8 [[gnu::vector_size(32)]] = float;
constexpr std::size_t tile = 8;

/// A sample's vectors in the first-level cache, in the two layouts that the loops read.
struct SampleScratch {
  explicit SampleScratch(const DotInteraction& shape)
      : columns(round_up(shape.features, tile)),
        dim(round_up(shape.dim, std::max(tile, lane_count))),
        transposed(dim * columns),
        products(round_up(shape.features, tile) * columns),
        vectors(columns * dim),
        results(columns * dim) {}
  std::size_t columns;
  std::size_t dim;
  std::vector<float> transposed;  ///< [dim][columns]
  std::vector<float> products;    ///< [columns][columns]
  std::vector<float> vectors;     ///< [columns][dim], padded with zeros
  std::vector<float> results;     ///< as vectors
};

void gather_vectors(const DotInteraction& shape, std::span<const Pooled<const float>> inputs, std::size_t sample,
                    SampleScratch& scratch) {
  for (std::size_t f = 0; f < shape.features; ++f) {
    std::memcpy(scratch.vectors.data() + f * scratch.dim, inputs[f].data + sample * inputs[f].stride,
                shape.dim * sizeof(float));
  }
}

/// Transposes the 8 x 8 block at `from`, with rows `from_stride` apart, to `to`.
void transpose_block(const float* from, std::size_t from_stride, float* to, std::size_t to_stride) {
  Lanes8 a[tile];
  Lanes8 b[tile];
  for (std::size_t k = 0; k < tile; ++k) std::memcpy(&a[k], from + k * from_stride, sizeof a[k]);
  for (std::size_t k = 0; k < tile; k += 2) {
    b[k] = __builtin_shufflevector(a[k], a[k + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    b[k + 1] = __builtin_shufflevector(a[k], a[k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (std::size_t k = 0; k < tile; k += 4) {
    for (std::size_t odd = 0; odd < 2; ++odd) {
      a[k + odd] = __builtin_shufflevector(b[k + odd], b[k + odd + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      a[k + odd + 2] = __builtin_shufflevector(b[k + odd], b[k + odd + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
  for (std::size_t k = 0; k < tile / 2; ++k) {
    b[k] = __builtin_shufflevector(a[k], a[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    b[k + 4] = __builtin_shufflevector(a[k], a[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
  for (std::size_t k = 0; k < tile; ++k) std::memcpy(to + k * to_stride, &b[k], sizeof b[k]);
}

void transpose_vectors(const DotInteraction& shape, SampleScratch& scratch) {
  const std::size_t needed = shape.itself ? shape.features : shape.features - 1;
  for (std::size_t f = 0; f < needed; f += tile) {
    for (std::size_t d = 0; d < shape.dim; d += tile) {
      transpose_block(scratch.vectors.data() + f * scratch.dim + d, scratch.dim,
                      scratch.transposed.data() + d * scratch.columns + f, scratch.columns);
    }
  }
}

/// Computes products[row .. row + Rows) x [column .. column + 8), summing over the dimensions in order.
template <std::size_t Rows>
void multiply_tile(const DotInteraction& shape, SampleScratch& scratch, std::size_t row, std::size_t column) {
  Lanes8 acc[Rows] = {};
  const float* vectors = scratch.vectors.data() + row * scratch.dim;
  const float* transposed = scratch.transposed.data() + column;
  for (std::size_t d = 0; d < shape.dim; ++d) {
    Lanes8 right;
    std::memcpy(&right, transposed + d * scratch.columns, sizeof right);
    for (std::size_t r = 0; r < Rows; ++r) acc[r] += right * vectors[r * scratch.dim + d];
  }
  for (std::size_t r = 0; r < Rows; ++r) {
    std::memcpy(scratch.products.data() + (row + r) * scratch.columns + column, &acc[r], sizeof acc[r]);
  }
}

/// Computes the tiles that have a pair of the lower triangle.
void multiply_lower(const DotInteraction& shape, SampleScratch& scratch) {
  const std::size_t first = shape.itself ? 0 : 1;
  for (std::size_t row = first; row < shape.features; row += tile) {
    const std::size_t rows = std::min(tile, shape.features - row);
    const std::size_t needed = row + rows - first;
    for (std::size_t column = 0; column < needed; column += tile) {
      if (rows > 4) {
        multiply_tile<tile>(shape, scratch, std::min(row, scratch.columns - tile), column);
      } else if (rows > 2) {
        multiply_tile<4>(shape, scratch, row, column);
      } else {
        multiply_tile<2>(shape, scratch, std::min(row, scratch.columns - 2), column);
      }
    }
  }
}

void forward_sample(const DotInteraction& shape, SampleScratch& scratch, float* output) {
  transpose_vectors(shape, scratch);
  multiply_lower(shape, scratch);
  std::memcpy(output, scratch.vectors.data(), shape.dim * sizeof(float));
  float* next = output + shape.dim;
  for (std::size_t row = shape.itself ? 0 : 1; row < shape.features; ++row) {
    const std::size_t count = shape.itself ? row + 1 : row;
    std::memcpy(next, scratch.products.data() + row * scratch.columns, count * sizeof(float));
    next += count;
  }
}

/// The gradients of the products as a symmetric matrix (in scratch.products); its diagonal counts twice.
void spread_gradient(const DotInteraction& shape, const float* gradient, SampleScratch& scratch) {
  float* matrix = scratch.products.data();
  const float* next = gradient + shape.dim;
  for (std::size_t row = 0; row < shape.features; ++row) {
    for (std::size_t column = 0; column < row; ++column) {
      matrix[row * scratch.columns + column] = *next;
      matrix[column * scratch.columns + row] = *next++;
    }
    matrix[row * scratch.columns + row] = shape.itself ? 2.0F * *next++ : 0.0F;
  }
}

/// Computes results[row .. row + 8) at dimensions [d, d + lane_count): the matrix times the vectors.
void multiply_gradient_tile(const DotInteraction& shape, SampleScratch& scratch, std::size_t row, std::size_t d) {
  Lanes acc[tile] = {};
  const float* matrix = scratch.products.data() + row * scratch.columns;
  for (std::size_t f = 0; f < shape.features; ++f) {
    Lanes vector;
    load_lanes(vector, scratch.vectors.data() + f * scratch.dim + d);
    for (std::size_t r = 0; r < tile; ++r) acc[r] += vector * matrix[r * scratch.columns + f];
  }
  for (std::size_t r = 0; r < tile; ++r) store_lanes(scratch.results.data() + (row + r) * scratch.dim + d, acc[r]);
}

void backward_sample(const DotInteraction& shape, SampleScratch& scratch, const float* gradient) {
  spread_gradient(shape, gradient, scratch);
  for (std::size_t row = 0; row < shape.features; row += tile) {
    for (std::size_t d = 0; d < shape.dim; d += lane_count) multiply_gradient_tile(shape, scratch, row, d);
  }
  for (std::size_t d = 0; d < shape.dim; ++d) scratch.results[d] += gradient[d];
}

void check_number(const DotInteraction& shape, std::size_t given, const char* what) {
  if (shape.features == 0 || given != shape.features) {
    throw Error(ErrorCode::invalid_argument, std::string("dot_interaction: ") + what + " has " + std::to_string(given) +
                                                 " entries for " + std::to_string(shape.features) +
                                                 " features; both must be equal and at least 1");
  }
}

template <typename Body>
void for_each_sample(const DotInteraction& shape, std::size_t samples, const Body& body) {
  const std::size_t partitions = partition_count(shape.partitions);
  for_each_partition(partitions, [&](std::size_t p) {
    SampleScratch scratch(shape);
    const auto [begin, end] = partition_range(samples, partitions, p);
    for (std::size_t sample = begin; sample < end; ++sample) body(sample, scratch);
  });
}

}  // namespace

void dot_interaction_forward(const DotInteraction& shape, std::size_t samples,
                             std::span<const Pooled<const float>> inputs, float* output, std::size_t stride) {
  check_number(shape, inputs.size(), "inputs");
  for_each_sample(shape, samples, [&](std::size_t sample, SampleScratch& scratch) {
    gather_vectors(shape, inputs, sample, scratch);
    forward_sample(shape, scratch, output + sample * stride);
  });
}

void dot_interaction_backward(const DotInteraction& shape, std::size_t samples,
                              std::span<const Pooled<const float>> inputs, const float* output_gradient,
                              std::size_t stride, std::span<const Pooled<float>> input_gradients) {
  check_number(shape, inputs.size(), "inputs");
  check_number(shape, input_gradients.size(), "input_gradients");
  for_each_sample(shape, samples, [&](std::size_t sample, SampleScratch& scratch) {
    gather_vectors(shape, inputs, sample, scratch);
    backward_sample(shape, scratch, output_gradient + sample * stride);
    for (std::size_t f = 0; f < shape.features; ++f) {
      std::memcpy(input_gradients[f].data + sample * input_gradients[f].stride,
                  scratch.results.data() + f * scratch.dim, shape.dim * sizeof(float));
    }
  });
}

}  // namespace tutti::kernels
