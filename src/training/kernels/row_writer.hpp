// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "training/kernels/row_noise.hpp"
#include "training/kernels/row_scale.hpp"

/// Writes float32 values to a stored row.
namespace tutti::kernels {

/// The size of memory for the values of a row: a multiple of lane_count.
inline std::size_t padded(std::size_t count) { return (count + lane_count - 1) / lane_count * lane_count; }

[[gnu::always_inline]] inline void store_rounded(bfloat16_t* to, const Lanes& from, const UintLanes* noise) {
  UintLanes bits;
  round_bfloat16(bits, from, noise);
  store_halves(&to->bits, bits);
}

[[gnu::always_inline]] inline void store_rounded(float16_t* to, const Lanes& from, const UintLanes* noise) {
  if (noise == nullptr) return store_lanes(to, from);
  UintLanes bits;
  round_float16(bits, from, *noise);
  store_halves(&to->bits, bits);
}

[[gnu::always_inline]] inline void store_rounded(std::uint8_t* to, const Lanes& from, const UintLanes* noise) {
  UintLanes bits;
  round_step(bits, from, noise);
  store_bytes(to, bits);
}

/// Stores the values d to d + width - 1 of a row, at most lane_count; rounds to nearest if noise is null.
template <typename Stored>
[[gnu::always_inline]] inline void store_block(Stored* row, const Lanes& values, std::size_t d, std::size_t width,
                                               const RowNoise* noise) {
  if constexpr (std::is_same_v<Stored, float>) {
    store_part(row + d, values, width);
  } else {
    UintLanes bits;
    if (noise != nullptr) noise->load<Lanes>(bits, d);
    const UintLanes* random = noise != nullptr ? &bits : nullptr;
    if (width >= lane_count) return store_rounded(row + d, values, random);
    Stored block[lane_count];
    store_rounded(block, values, random);
    std::memcpy(row + d, block, width * sizeof(Stored));
  }
}

/// Stores a whole row of bytes with a new scale. `from` has padded(count) values; those after `count` are overwritten.
inline void store_scaled(const EmbeddingTable& table, std::uint64_t row, float* from, std::size_t count,
                         const RowNoise* noise) {
  if (count == 0) return;
  if (count % lane_count != 0) std::fill(from + count, from + padded(count), from[0]);
  const RowScale scale = scale_of(from, count);
  table.scales[row] = scale;
  auto* to = static_cast<std::uint8_t*>(table.weights) + row * table.row_stride;
  const float inverse = 1.0F / scale.scale;
  for (std::size_t d = 0; d < count; d += lane_count) {
    Lanes values;
    load_lanes(values, from + d);
    values = (values - scale.bias) * inverse;
    store_block(to, values, d, std::min(lane_count, count - d), noise);
  }
}

/// Stores a whole row of a table from padded(count) values; those after `count` may be overwritten.
template <typename Stored>
inline void write_row(const EmbeddingTable& table, std::uint64_t row, float* from, std::size_t count,
                      const RowNoise* noise) {
  if constexpr (std::is_same_v<Stored, std::uint8_t>) {
    store_scaled(table, row, from, count, noise);
  } else {
    Stored* to = static_cast<Stored*>(table.weights) + row * table.row_stride;
    for (std::size_t d = 0; d < count; d += lane_count) {
      Lanes values;
      load_lanes(values, from + d);
      store_block(to, values, d, std::min(lane_count, count - d), noise);
    }
  }
}

}  // namespace tutti::kernels
