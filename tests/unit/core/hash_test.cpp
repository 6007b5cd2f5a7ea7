// SPDX-License-Identifier: BSD-3-Clause
#include "core/hash.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::detail {
namespace {

TEST(Hash, IsThePublishedOneForText) {
  EXPECT_EQ(hash(""), 0xcbf29ce484222325U);
  EXPECT_EQ(hash("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(hash("foobar"), 0x85944171f73967e8U);
}

TEST(Hash, TellsWhereOneTextEnds) {
  EXPECT_NE(Hash().add("ab").add("c").value(), Hash().add("a").add("bc").value());
  EXPECT_NE(Hash().add("").value(), Hash().value());
}

TEST(Hash, OfBytesChangesWithEveryBitAndWithTheLength) {
  for (const std::size_t length : {1U, 7U, 8U, 63U, 64U, 65U, 200U}) {
    std::vector<std::byte> bytes(length);
    for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(i * 37 + 11);
    const std::uint64_t before = hash_bytes(bytes);
    for (std::size_t bit = 0; bit < 8 * length; ++bit) {
      bytes[bit / 8] ^= std::byte{1} << bit % 8;
      EXPECT_NE(hash_bytes(bytes), before) << length << " " << bit;
      bytes[bit / 8] ^= std::byte{1} << bit % 8;
    }
    EXPECT_EQ(hash_bytes(bytes), before);
  }
  const std::vector<std::byte> zeros(200);
  EXPECT_NE(hash_bytes(std::span(zeros).first(8)), hash_bytes(std::span(zeros).first(9)));
}

TEST(Hash, OfBytesChangesWhenElementsChangePlaces) {
  std::vector<std::uint64_t> words(32);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = i * i + 1;
  const auto bytes = std::as_bytes(std::span(words));
  const std::uint64_t before = hash_bytes(bytes);
  for (std::size_t i = 0; i < words.size(); ++i)
    for (std::size_t j = i + 1; j < words.size(); ++j) {
      std::swap(words[i], words[j]);
      EXPECT_NE(hash_bytes(bytes), before) << i << " " << j;
      std::swap(words[i], words[j]);
    }
}

TEST(MixBits, IsSplitMix64) {
  EXPECT_EQ(mix_bits(1234567), 6457827717110365317U);
  EXPECT_EQ(mix_bits(1234567 + 0x9e3779b97f4a7c15U), 3203168211198807973U);
}

}  // namespace
}  // namespace tutti::detail
