// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace tutti::test {
namespace {

using kernels::copy_buffer;
using kernels::exceeds_core_caches;
using kernels::stream_copy;

TEST(Copy, CopiesEveryLengthAtEveryDistance) {
  constexpr std::size_t page = 4096;
  std::vector<unsigned char> source(4 * page);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i * 37 + i / 251 + 1);
  std::vector<unsigned char> memory(6 * page);
  const auto place_of = [](const void* address) { return reinterpret_cast<std::uintptr_t>(address) % page; };
  for (std::size_t distance : {0, 1, 16, 31, 32, 48, 63, 64})
    for (const std::size_t bytes : {1, 127, 128, 2047, 2048, 2049, 4095, 8200, 12000})
      for (auto* function : {static_cast<void (*)(void*, const void*, std::size_t)>(kernels::copy),
                             static_cast<void (*)(void*, const void*, std::size_t)>(kernels::copy_by_moves)}) {
        std::fill(memory.begin(), memory.end(), 0);
        unsigned char* target =
            memory.data() + page + (page + place_of(source.data()) - place_of(memory.data())) % page + distance;
        function(target, source.data(), bytes);
        EXPECT_TRUE(std::equal(target, target + bytes, source.begin())) << bytes << " at " << distance;
        EXPECT_EQ(target[-1], 0);
        EXPECT_EQ(target[bytes], 0);
      }
}

TEST(Copy, SlowMovesAreThoseThatWereMeasured) {
  const std::size_t distance = kernels::slow_distance();
  EXPECT_TRUE(distance == 0 || distance == 32 || distance == 64) << distance;
  for (const std::size_t behind : {1, 16, 40, 63, 64, 4095})
    EXPECT_EQ(kernels::is_slow_move(behind, 0, 4096), behind < distance) << behind;
  EXPECT_FALSE(kernels::is_slow_move(0, 0, 4096));
  EXPECT_FALSE(kernels::is_slow_move(16, 0, 2047));
}

TEST(StreamCopy, CopiesEveryLengthFromAndToEveryAddress) {
  constexpr std::size_t room = 700;
  std::vector<unsigned char> source(room);
  for (std::size_t i = 0; i < room; ++i) source[i] = static_cast<unsigned char>(i * 37 + i / 251 + 1);
  for (const std::size_t from : {0, 1, 15, 64})
    for (const std::size_t to : {0, 1, 16, 63})
      for (std::size_t bytes = 0; bytes <= 320; bytes += bytes < 140 ? 1 : 59) {
        std::vector<unsigned char> target(room, 0);
        std::vector<unsigned char> expected(room, 0);
        std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(from), bytes,
                    expected.begin() + static_cast<std::ptrdiff_t>(to));
        stream_copy(target.data() + to, source.data() + from, bytes);
        ASSERT_EQ(target, expected) << bytes << " bytes from " << from << " to " << to;
      }
}

TEST(StreamCopy, BuffersOfAllLevelsAreWhole) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{5}, std::size_t{100'000}, std::size_t{3'000'001}, std::size_t{50'000'003}}) {
    std::vector<unsigned char> source(bytes + 1);
    constexpr std::size_t block = 61;  // no divisor of a line
    for (std::size_t at = 0; at < source.size(); at += block)
      std::memset(source.data() + at, 1 + static_cast<int>(at / block % 250), std::min(block, source.size() - at));
    std::vector<unsigned char> target(source.size(), 0);
    copy_buffer(target.data(), source.data(), bytes);
    EXPECT_TRUE(std::equal(source.begin(), source.end() - 1, target.begin())) << bytes;
    EXPECT_EQ(target.back(), 0) << bytes;
  }
}

TEST(StreamCopy, ShortDataStayInTheCaches) {
  EXPECT_FALSE(exceeds_core_caches(0));
  EXPECT_FALSE(exceeds_core_caches(std::size_t{64} << 10U));
  EXPECT_TRUE(exceeds_core_caches(std::size_t{1} << 30U));
}

}  // namespace
}  // namespace tutti::test
