// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/detail/launch/kernel.hpp>
#include <tutti/float_types.hpp>
#include <tutti/kernels/embedding_bag.hpp>

#include "common/loss.hpp"
#include "common/mlp_engine.hpp"

/// What happens between the products of a step, on device memory and in stream order: the arithmetic of
/// activations.hpp, loss.hpp and cross_network.hpp. Every call returns at once and may be captured. Results do not
/// depend on timing. Throws as launch().
namespace tutti::miniapps::device {

using kernels::device::StreamHandle;

void fill(float* values, std::size_t count, float value, StreamHandle stream);
/// To the nearest, ties to even.
void convert(const float* from, bfloat16_t* to, std::size_t count, StreamHandle stream);
/// Of rows of `width` values, to rows that begin `stride` values apart, a multiple of 4, with zeros between; `to` has
/// an alignment of 16 bytes.
void convert_rows(const float* from, bfloat16_t* to, std::size_t rows, std::size_t width, std::size_t stride,
                  StreamHandle stream);
/// The reverse, without rounding; `from` has an alignment of 16 bytes.
void pack_rows(const float* from, float* to, std::size_t rows, std::size_t width, std::size_t stride,
               StreamHandle stream);

/// y = activation(z + b), of [n][width]; y may be z. b may be null.
void add_bias(const float* z, const float* b, float* y, std::size_t n, std::size_t width, Activation activation,
              StreamHandle stream);
void add_bias(const float* z, const float* b, bfloat16_t* y, std::size_t n, std::size_t width, Activation activation,
              StreamHandle stream);
/// *found = 1 if any of the values is not a NaN.
void find_number(const float* values, std::size_t count, float* found, StreamHandle stream);
void find_number(const bfloat16_t* values, std::size_t count, float* found, StreamHandle stream);
/// dz, the gradient before the activation, from d, that of its result y; dz may be d.
void deactivate(const float* d, const float* y, float* dz, std::size_t count, Activation activation,
                StreamHandle stream);
void deactivate(const float* d, const float* y, bfloat16_t* dz, std::size_t count, Activation activation,
                StreamHandle stream);
void deactivate(const float* d, const bfloat16_t* y, bfloat16_t* dz, std::size_t count, Activation activation,
                StreamHandle stream);

/// sums[c] = values[0][c] + ... + values[n - 1][c], of [n][width], in an order that depends on n alone. `partials`
/// holds column_sum_parts * width values of scratch.
inline constexpr std::size_t column_sum_parts = 128;
void sum_columns(const float* values, float* partials, float* sums, std::size_t n, std::size_t width,
                 StreamHandle stream);
void sum_columns(const bfloat16_t* values, float* partials, float* sums, std::size_t n, std::size_t width,
                 StreamHandle stream);

/// As loss(): adds the sum of the losses to *sum, and writes the gradient of the mean over `global_batch` samples.
/// `partials` holds loss_partials values of scratch.
inline constexpr std::size_t loss_partials = 1024;
void loss(const LossOptions& options, const float* predictions, const float* labels, std::size_t count,
          std::size_t global_batch, float* gradient, double* partials, double* sum, StreamHandle stream);

/// All features of a sample side by side: joined is [samples][features][dim].
void join(std::size_t samples, std::span<const kernels::Pooled<const float>> features, std::size_t dim, float* joined,
          StreamHandle stream);
/// The reverse.
void part(std::size_t samples, const float* joined, std::size_t dim, std::span<const kernels::Pooled<float>> features,
          StreamHandle stream);

/// A layer of a cross network: y = x0 * z + x.
void cross(const float* x0, const float* z, const float* x, float* y, std::size_t count, StreamHandle stream);
/// Its backward by y's gradient g: dz = x0 * g, dx0 += z * g.
void uncross(const float* x0, const float* z, const float* g, float* dz, float* dx0, std::size_t count,
             StreamHandle stream);
/// sum = sum + values
void add(float* sum, const float* values, std::size_t count, StreamHandle stream);

}  // namespace tutti::miniapps::device
