// SPDX-License-Identifier: BSD-3-Clause
#include "core/checksum.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace tutti::detail {
namespace {

std::uint64_t checksum(Bytes bytes) {
  Checksum sum;
  sum.add(bytes);
  return sum.value();
}

std::uint64_t by_single_bytes(Bytes bytes) {
  Checksum sum;
  for (std::size_t i = 0; i < bytes.size(); ++i) sum.add(bytes.subspan(i, 1));
  return sum.value();
}

std::vector<std::byte> random_bytes(std::size_t n) {
  std::vector<std::byte> bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::byte>(mix_bits(i));
  return bytes;
}

// The value that the catalogue of CRCs has for CRC-64/XZ.
TEST(Checksum, IsThePublishedOne) {
  constexpr std::string_view text = "123456789";
  EXPECT_EQ(checksum(std::as_bytes(std::span(text.data(), text.size()))), 0x995dc9bbdf1939faU);
  EXPECT_EQ(checksum({}), 0U);
}

// Single bytes go by a table, some by several tables, many by products.
TEST(Checksum, IsTheSameByEveryWayAndForEveryCut) {
  const std::vector<std::byte> bytes = random_bytes(700);
  for (std::size_t n = 0; n <= bytes.size(); n = n < 300 ? n + 1 : n + 57) {
    const Bytes all = Bytes(bytes).first(n);
    const std::uint64_t expected = by_single_bytes(all);
    EXPECT_EQ(checksum(all), expected) << n;
    for (std::size_t cut = 0; cut <= n; cut += 41) {
      Checksum sum;
      sum.add(all.first(cut));
      sum.add(all.subspan(cut));
      EXPECT_EQ(sum.value(), expected) << n << " " << cut;
      EXPECT_EQ(joined(checksum(all.first(cut)), checksum(all.subspan(cut)), n - cut), expected) << n << " " << cut;
    }
  }
}

TEST(Checksum, TellsEveryBit) {
  std::vector<std::byte> bytes = random_bytes(300);
  const std::uint64_t before = checksum(bytes);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_NE(checksum(bytes), before) << bit;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  EXPECT_EQ(checksum(bytes), before);
}

}  // namespace
}  // namespace tutti::detail
