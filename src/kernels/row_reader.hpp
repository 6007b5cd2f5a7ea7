// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/embedding_common.hpp"
#include "kernels/lanes.hpp"

/// A stored row as float32 values, one by one or in lanes.
namespace tutti::kernels {

template <typename Stored>
class RowReader {
 public:
  RowReader(const EmbeddingTable& table, std::int64_t row)
      : values_(static_cast<const Stored*>(table.weights) + row * static_cast<std::int64_t>(table.row_stride)) {}

  float operator[](std::size_t d) const {
    if constexpr (std::is_same_v<Stored, float16_t>) {
      return detail::widen_float16(values_[d].bits);
    } else {
      return static_cast<float>(values_[d]);
    }
  }
  void load(Lanes& to, std::size_t d) const { load_lanes(to, values_ + d); }
  void read(float* __restrict to, std::size_t count) const { widen(values_, to, count); }

  static void prefetch(const EmbeddingTable& table, std::int64_t row, std::size_t dim) {
    prefetch_bytes(static_cast<const Stored*>(table.weights) + row * static_cast<std::int64_t>(table.row_stride),
                   dim * sizeof(Stored));
  }

 private:
  const Stored* values_;
};

template <>
class RowReader<std::uint8_t> {
 public:
  RowReader(const EmbeddingTable& table, std::int64_t row)
      : values_(static_cast<const std::uint8_t*>(table.weights) + row * static_cast<std::int64_t>(table.row_stride)),
        scale_(table.scales[row]) {}

  float operator[](std::size_t d) const { return static_cast<float>(values_[d]) * scale_.scale + scale_.bias; }
  void load(Lanes& to, std::size_t d) const {
    load_lanes(to, values_ + d);
    to = to * scale_.scale + scale_.bias;
  }
  void read(float* __restrict to, std::size_t count) const {
    for (std::size_t d = 0; d < count; ++d) to[d] = (*this)[d];
  }

  static void prefetch(const EmbeddingTable& table, std::int64_t row, std::size_t dim) {
    prefetch_bytes(static_cast<const std::uint8_t*>(table.weights) + row * static_cast<std::int64_t>(table.row_stride),
                   dim);
    prefetch_bytes(table.scales + row, sizeof(RowScale));
  }

 private:
  const std::uint8_t* values_;
  RowScale scale_;
};

}  // namespace tutti::kernels
