// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/device/words.hpp"
#include "training/kernels/device/tables.hpp"
#include "training/kernels/row_arithmetic.hpp"

/// Neighbouring values of a row that one lane holds.
namespace tutti::kernels::device {

template <typename Stored>
TUTTI_FUNCTION const Stored* row_at(const DeviceTable& table, std::int64_t row) {
  return static_cast<const Stored*>(table.weights) + row * static_cast<std::int64_t>(table.row_stride);
}

/// Columns of a row, as numbers.
template <typename Stored, std::size_t Width>
TUTTI_FUNCTION void load_row_values(const DeviceTable& table, std::int64_t row, std::size_t column,
                                    float (&to)[Width]) {
  Stored stored[Width];
  load_constant_pack(stored, row_at<Stored>(table, row) + column);
  TUTTI_UNROLL
  for (std::size_t e = 0; e < Width; ++e) {
    to[e] = row_value(stored[e]);
    if constexpr (std::is_same_v<Stored, std::uint8_t>) to[e] = scaled_value(to[e], table.scales[row]);
  }
}

}  // namespace tutti::kernels::device
