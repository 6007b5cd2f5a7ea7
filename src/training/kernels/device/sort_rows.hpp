// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/runtime.hpp"

namespace tutti::kernels::device {

/// Two buffers of `count` keys and values each. The first holds the input.
struct SortPlaces {
  std::uint32_t* keys[2];
  std::uint32_t* values[2];
  std::size_t count;
};

/// Bytes that sort_rows needs beside them; 0 if bodies are host functions.
[[nodiscard]] std::size_t sort_scratch_bytes(const SortPlaces& places, unsigned bits);

/// Sorts stably by the lowest `bits` bits of the keys, in stream order (the radix sort of CUB). Returns the buffer that
/// has the result: always the same one for the same count and bits.
[[nodiscard]] int sort_rows(const SortPlaces& places, unsigned bits, void* scratch, std::size_t scratch_bytes,
                            tutti::detail::device::StreamHandle stream);

}  // namespace tutti::kernels::device
