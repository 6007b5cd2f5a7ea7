// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>

#include "kernels/device/tables.hpp"
#include "kernels/device/words.hpp"
#include "kernels/row_arithmetic.hpp"

#if defined(TUTTI_DEVICE_CODE)
#define TUTTI_UNROLL _Pragma("unroll")
#else
#define TUTTI_UNROLL
#endif

/// Neighbouring values of a row that one lane holds.
namespace tutti::kernels::device {

/// Whether anything writes the values during the launch.
enum class Values : std::uint8_t { constant, changing };

template <Values Kind, typename T, std::size_t Width>
TUTTI_FUNCTION void load_pack_of(T (&to)[Width], const T* from) {
  [[maybe_unused]] constexpr bool is_constant = Kind == Values::constant;
  constexpr std::size_t bytes = sizeof(T) * Width;
#if defined(TUTTI_DEVICE_CODE)
  if constexpr (bytes % 16 == 0) {
    TUTTI_UNROLL
    for (std::size_t k = 0; k < bytes / 16; ++k) {
      const auto* at = reinterpret_cast<const uint4*>(from) + k;
      const uint4 words = is_constant ? __ldg(at) : *at;
      memcpy(reinterpret_cast<char*>(to) + 16 * k, &words, 16);
    }
  } else if constexpr (bytes == 8) {
    const auto* at = reinterpret_cast<const uint2*>(from);
    const uint2 words = is_constant ? __ldg(at) : *at;
    memcpy(to, &words, 8);
  } else if constexpr (bytes == 4) {
    const auto* at = reinterpret_cast<const unsigned*>(from);
    const unsigned word = is_constant ? __ldg(at) : *at;
    memcpy(to, &word, 4);
  } else {
    for (std::size_t k = 0; k < Width; ++k) to[k] = from[k];
  }
#else
  std::memcpy(to, from, bytes);
#endif
}

/// Loads Width values from an address aligned to all of them.
template <typename T, std::size_t Width>
TUTTI_FUNCTION void load_pack(T (&to)[Width], const T* from) {
  load_pack_of<Values::changing>(to, from);
}
/// Loads values that nothing writes during the launch.
template <typename T, std::size_t Width>
TUTTI_FUNCTION void load_constant_pack(T (&to)[Width], const T* from) {
  load_pack_of<Values::constant>(to, from);
}

template <typename T, std::size_t Width>
TUTTI_FUNCTION void store_pack(T* to, const T (&from)[Width]) {
  constexpr std::size_t bytes = sizeof(T) * Width;
#if defined(TUTTI_DEVICE_CODE)
  if constexpr (bytes % 16 == 0) {
    TUTTI_UNROLL
    for (std::size_t k = 0; k < bytes / 16; ++k) {
      uint4 words;
      memcpy(&words, reinterpret_cast<const char*>(from) + 16 * k, 16);
      reinterpret_cast<uint4*>(to)[k] = words;
    }
  } else if constexpr (bytes == 8) {
    uint2 words;
    memcpy(&words, from, 8);
    *reinterpret_cast<uint2*>(to) = words;
  } else if constexpr (bytes == 4) {
    unsigned word;
    memcpy(&word, from, 4);
    *reinterpret_cast<unsigned*>(to) = word;
  } else {
    for (std::size_t k = 0; k < Width; ++k) to[k] = from[k];
  }
#else
  std::memcpy(to, from, bytes);
#endif
}

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
