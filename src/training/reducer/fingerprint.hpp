// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tutti::detail::reducer {

/// A number that changes with any single bit of the bytes, and with all but 2^-64 of other changes. Read once, at the
/// speed of memory.
[[nodiscard]] inline std::uint64_t fingerprint(std::span<const std::byte> bytes) {
  constexpr std::uint64_t factor = 0x9E3779B97F4A7C15ULL;
  constexpr std::size_t lanes = 8;
  std::array<std::uint64_t, lanes> sums{};
  // One to one in the sum and in the word.
  const auto mix = [](std::uint64_t sum, std::uint64_t word) {
    const std::uint64_t product = (sum ^ word) * factor;
    return product ^ product >> 29U;
  };
  std::size_t at = 0;
  for (; at + sizeof sums <= bytes.size(); at += sizeof sums) {
    std::array<std::uint64_t, lanes> words{};
    std::memcpy(words.data(), bytes.data() + at, sizeof words);
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] = mix(sums[lane], words[lane]);
  }
  std::array<std::uint64_t, lanes> rest{};
  if (at < bytes.size()) std::memcpy(rest.data(), bytes.data() + at, bytes.size() - at);
  std::uint64_t whole = bytes.size();
  for (std::size_t lane = 0; lane < lanes; ++lane) whole = mix(mix(whole, sums[lane]), rest[lane]);
  return whole;
}

}  // namespace tutti::detail::reducer
