// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tutti/detail/export.hpp>

#if defined(TUTTI_DEVICE_CODE)
#define TUTTI_UNROLL _Pragma("unroll")
#else
#define TUTTI_UNROLL
#endif

/// Sixteen bytes: the widest load and store of a lane; and neighbouring values that one lane holds.
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

}  // namespace tutti::kernels::device
