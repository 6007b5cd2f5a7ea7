// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "kernels/convert.hpp"
#include "kernels/row_noise.hpp"

/// Float32 values to a stored row. Noise is a function of the column that gives 32 random bits.
namespace tutti::kernels {

/// Adds noise below the last bit that is kept, then cuts.
inline std::uint16_t round_bfloat16(float x, std::uint32_t noise) {
  const std::uint32_t word = detail::float_bits(x);
  const std::uint32_t rounded = (word + (noise & 0xffffU)) >> 16;
  const std::uint32_t nan = (word >> 16) | 0x0040U;
  return static_cast<std::uint16_t>(detail::select((word & 0x7fffffffU) > 0x7f800000U, nan, rounded));
}

/// Normal numbers as above; multiples of 2^-24 below 2^-14 by comparing what is cut with the noise.
inline std::uint16_t round_float16(float x, std::uint32_t noise) {
  const std::uint32_t word = detail::float_bits(x);
  const std::uint32_t sign = (word >> 16) & 0x8000U;
  const std::uint32_t magnitude = word & 0x7fffffffU;
  const std::uint32_t normal = (magnitude + (noise & 0x1fffU) - (112U << 23)) >> 13;
  const float steps = detail::float_from_bits(std::min(magnitude, 113U << 23)) * 0x1p24F;
  const auto whole = static_cast<std::int32_t>(steps);
  const float cut = steps - static_cast<float>(whole);
  const float threshold = static_cast<float>(static_cast<std::int32_t>(noise >> 8)) * 0x1p-24F;
  const std::uint32_t subnormal = static_cast<std::uint32_t>(whole) + (threshold < cut ? 1U : 0U);
  const std::uint32_t finite = detail::select(magnitude < (113U << 23), subnormal, std::min(normal, 0x7c00U));
  const std::uint32_t nan = 0x7e00U | ((magnitude >> 13) & 0x3ffU);
  return static_cast<std::uint16_t>(sign | detail::select(magnitude > 0x7f800000U, nan, finite));
}

inline void write_values(bfloat16_t* __restrict to, const float* __restrict from, std::size_t count, RowNoise noise) {
  for (std::size_t d = 0; d < count; ++d) to[d].bits = round_bfloat16(from[d], noise(d));
}

inline void write_values(float16_t* __restrict to, const float* __restrict from, std::size_t count, RowNoise noise) {
  for (std::size_t d = 0; d < count; ++d) to[d].bits = round_float16(from[d], noise(d));
}

/// The scale that takes the least value to 0 and the largest to 255. A value that is not finite makes the bias a NaN.
inline RowScale scale_of(const float* from, std::size_t count) {
  constexpr std::size_t lanes = 16;
  float least[lanes];
  float largest[lanes];
  float probe[lanes] = {};
  for (std::size_t k = 0; k < lanes; ++k) least[k] = largest[k] = from[0];
  const auto look_at = [&](std::size_t k, float x) {
    least[k] = x < least[k] ? x : least[k];
    largest[k] = x > largest[k] ? x : largest[k];
    probe[k] += x * 0.0F;
  };
  const std::size_t whole = count - count % lanes;
  for (std::size_t d = 0; d < whole; d += lanes) {
    for (std::size_t k = 0; k < lanes; ++k) look_at(k, from[d + k]);
  }
  for (std::size_t d = whole; d < count; ++d) look_at(d - whole, from[d]);
  for (std::size_t width = lanes / 2; width > 0; width /= 2) {
    for (std::size_t k = 0; k < width; ++k) {
      least[k] = least[k + width] < least[k] ? least[k + width] : least[k];
      largest[k] = largest[k + width] > largest[k] ? largest[k + width] : largest[k];
      probe[k] += probe[k + width];
    }
  }
  const float scale = (largest[0] - least[0]) / 255.0F;
  return {scale >= 0x1p-126F ? scale : 1.0F, least[0] + probe[0]};
}

/// Rounds x in [0, 255] down, and up again where what is cut exceeds the threshold in [0, 1).
inline std::uint8_t round_step(float x, float threshold) {
  const float inside = x > 0.0F ? (x < 255.0F ? x : 255.0F) : 0.0F;
  const auto whole = static_cast<std::int32_t>(inside);
  const float cut = inside - static_cast<float>(whole);
  return static_cast<std::uint8_t>(whole + (threshold < cut ? 1 : 0));
}

inline void quantise(std::uint8_t* __restrict to, const float* __restrict from, std::size_t count, RowScale scale,
                     const RowNoise* noise) {
  const float inverse = 1.0F / scale.scale;
  if (noise == nullptr) {
    for (std::size_t d = 0; d < count; ++d) to[d] = round_step((from[d] - scale.bias) * inverse, 0.5F);
    return;
  }
  const RowNoise bits = *noise;
  for (std::size_t d = 0; d < count; ++d) {
    const float threshold = static_cast<float>(static_cast<std::int32_t>(bits(d) >> 8)) * 0x1p-24F;
    to[d] = round_step((from[d] - scale.bias) * inverse, threshold);
  }
}

/// Stores a whole row of a table: to nearest where noise is null.
template <typename Stored>
inline void write_row(const EmbeddingTable& table, std::uint64_t row, const float* __restrict from, std::size_t count,
                      const RowNoise* noise) {
  Stored* to = static_cast<Stored*>(table.weights) + row * table.row_stride;
  if constexpr (std::is_same_v<Stored, std::uint8_t>) {
    const RowScale scale = count > 0 ? scale_of(from, count) : RowScale{};
    table.scales[row] = scale;
    quantise(to, from, count, scale, noise);
  } else if constexpr (std::is_same_v<Stored, float>) {
    std::copy_n(from, count, to);
  } else if (noise == nullptr) {
    narrow(from, to, count);
  } else {
    write_values(to, from, count, *noise);
  }
}

}  // namespace tutti::kernels
