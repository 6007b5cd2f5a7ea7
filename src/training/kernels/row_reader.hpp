// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "training/kernels/embedding_common.hpp"
#include "training/kernels/lanes.hpp"

/// Reads a stored row as float32 values, one by one or in lanes.
namespace tutti::kernels {

template <typename Stored>
inline const Stored* row_start(const EmbeddingTable& table, std::int64_t row) {
  return static_cast<const Stored*>(table.weights) + row * static_cast<std::int64_t>(table.row_stride);
}

template <typename Stored>
class RowReader {
 public:
  RowReader(const EmbeddingTable& table, std::int64_t row) : values_(row_start<Stored>(table, row)) {}

  float operator[](std::size_t d) const { return row_value(values_[d]); }
  /// Loads the values d to d + width - 1, at most lane_count.
  [[gnu::always_inline]] void load(Lanes& to, std::size_t d, std::size_t width = lane_count) const {
    load_part(to, values_ + d, width);
  }

 private:
  const Stored* values_;
};

template <>
class RowReader<std::uint8_t> {
 public:
  RowReader(const EmbeddingTable& table, std::int64_t row)
      : values_(row_start<std::uint8_t>(table, row)), scale_(table.scales[row]) {}

  float operator[](std::size_t d) const { return scaled_value(row_value(values_[d]), scale_); }
  [[gnu::always_inline]] void load(Lanes& to, std::size_t d, std::size_t width = lane_count) const {
    load_part(to, values_ + d, width);
    to = to * scale_.scale + scale_.bias;
  }

 private:
  const std::uint8_t* values_;
  RowScale scale_;
};

template <typename Stored>
inline void read_row(const EmbeddingTable& table, std::int64_t row, float* __restrict to, std::size_t count) {
  const RowReader<Stored> reader(table, row);
  const std::size_t whole = count - count % lane_count;
  for (std::size_t d = 0; d < whole; d += lane_count) {
    Lanes values;
    reader.load(values, d);
    store_lanes(to + d, values);
  }
  for (std::size_t d = whole; d < count; ++d) to[d] = reader[d];
}

template <typename Stored, CacheLevel Level>
inline void prefetch_row(const EmbeddingTable& table, std::int64_t row, std::size_t dim) {
  prefetch_bytes<Level>(row_start<Stored>(table, row), dim * sizeof(Stored));
  if constexpr (std::is_same_v<Stored, std::uint8_t>) prefetch_bytes<Level>(table.scales + row, sizeof(RowScale));
}

}  // namespace tutti::kernels
