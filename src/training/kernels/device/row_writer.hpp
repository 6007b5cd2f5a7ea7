// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "training/kernels/device/row_pack.hpp"
#include "training/kernels/row_noise.hpp"

/// Writes float32 values to a stored row, rounded to nearest if noise is null.
namespace tutti::kernels::device {

TUTTI_FUNCTION void round_value(float& to, float from, const RowNoise* /*noise*/, std::size_t /*column*/) { to = from; }

TUTTI_FUNCTION void round_value(bfloat16_t& to, float from, const RowNoise* noise, std::size_t column) {
  std::uint32_t bits = 0;
  if (noise != nullptr) noise->load<float>(bits, column);
  std::uint32_t rounded = 0;
  round_bfloat16<float>(rounded, from, noise != nullptr ? &bits : nullptr);
  to.bits = static_cast<std::uint16_t>(rounded);
}

TUTTI_FUNCTION void round_value(float16_t& to, float from, const RowNoise* noise, std::size_t column) {
  if (noise == nullptr) {
    to = float16_t(from);
    return;
  }
  std::uint32_t bits = 0;
  noise->load<float>(bits, column);
  std::uint32_t rounded = 0;
  round_float16<float>(rounded, from, bits);
  to.bits = static_cast<std::uint16_t>(rounded);
}

TUTTI_FUNCTION void round_value(std::uint8_t& to, float from, const RowNoise* noise, std::size_t column) {
  std::uint32_t bits = 0;
  if (noise != nullptr) noise->load<float>(bits, column);
  std::uint32_t step = 0;
  round_step<float>(step, from, noise != nullptr ? &bits : nullptr);
  to = static_cast<std::uint8_t>(step);
}

template <typename Stored, std::size_t Width>
TUTTI_FUNCTION void store_rounded(Stored* row, const float (&values)[Width], const RowNoise* noise,
                                  std::size_t column) {
  Stored stored[Width];
  TUTTI_UNROLL
  for (std::size_t e = 0; e < Width; ++e) round_value(stored[e], values[e], noise, column + e);
  store_pack(row + column, stored);
}

}  // namespace tutti::kernels::device
