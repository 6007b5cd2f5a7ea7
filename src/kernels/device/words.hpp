// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <tutti/detail/export.hpp>

/// Sixteen bytes: the widest load and store of a lane.
namespace tutti::kernels::device {

struct alignas(16) Words {
  std::uint32_t word[4];
};

inline constexpr std::size_t word_bytes = sizeof(Words);

inline bool is_aligned(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % word_bytes == 0; }

TUTTI_FUNCTION Words load_words(const void* from) {
#if defined(__CUDA_ARCH__)
  return __builtin_bit_cast(Words, *static_cast<const uint4*>(from));
#else  // one access, by its alignment
  return *static_cast<const Words*>(from);
#endif
}

TUTTI_FUNCTION void store_words(void* to, const Words& from) {
#if defined(__CUDA_ARCH__)
  *static_cast<uint4*>(to) = __builtin_bit_cast(uint4, from);
#else
  *static_cast<Words*>(to) = from;
#endif
}

/// The values of sixteen bytes.
template <typename T>
struct Pack {
  static constexpr std::size_t size = word_bytes / sizeof(T);
  T value[size];
};

}  // namespace tutti::kernels::device
