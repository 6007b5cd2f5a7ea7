// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace tutti::detail {

using Bytes = std::span<const std::byte>;

/// FNV-1a, 64 bits (Fowler, Noll and Vo), equal on all machines. It finds accidents, not attacks. Characters are hashed
/// one by one as published; a number is one step, whose high bits are then folded into the low ones.
class Hash {
 public:
  /// An integer or a value of an enumeration. No two values give the same hash after the same beginning.
  template <typename T>
  requires(std::is_integral_v<T> || std::is_enum_v<T>) constexpr Hash& add(T number) {
    step(static_cast<std::uint64_t>(number));
    state_ ^= state_ >> 29U;
    return *this;
  }
  constexpr Hash& add(double number) { return add(std::bit_cast<std::uint64_t>(number)); }
  /// The characters, then their number: "ab", "c" and "a", "bc" differ.
  constexpr Hash& add(std::string_view text) { return add_characters(text).add(text.size()); }
  constexpr Hash& add_characters(std::string_view text) {
    for (const char c : text) step(static_cast<unsigned char>(c));
    return *this;
  }
  [[nodiscard]] constexpr std::uint64_t value() const { return state_; }

 private:
  constexpr void step(std::uint64_t word) { state_ = (state_ ^ word) * 0x100000001b3ULL; }
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

/// The published hash of a text, as files hold it.
[[nodiscard]] constexpr std::uint64_t hash(std::string_view text) { return Hash().add_characters(text).value(); }

/// A hash of many bytes at the speed of memory: eight words a step, each in a lane of its own. Any single bit changes
/// it.
[[nodiscard]] inline std::uint64_t hash_bytes(Bytes bytes) {
  std::array<Hash, 8> lanes{};
  std::array<std::uint64_t, lanes.size()> words{};
  std::size_t at = 0;
  for (; at + sizeof words <= bytes.size(); at += sizeof words) {
    std::memcpy(words.data(), bytes.data() + at, sizeof words);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) lanes[lane].add(words[lane]);
  }
  words = {};
  if (at < bytes.size()) std::memcpy(words.data(), bytes.data() + at, bytes.size() - at);
  Hash whole;
  whole.add(bytes.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) whole.add(lanes[lane].value()).add(words[lane]);
  return whole.value();
}

/// Random bits of a counter: the output function of SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom
/// number generators, OOPSLA 2014). Any number of a stream can be made without the ones before it.
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

}  // namespace tutti::detail
