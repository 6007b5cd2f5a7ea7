// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/ring.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tutti::test {
namespace {

using detail::shm::Ring;

constexpr std::size_t ring_size = 1024;

TEST(Ring, CallsFollowOneAnother) {
  Ring ring(ring_size);
  EXPECT_EQ(ring.take(0, 400).offset, 0U);
  EXPECT_EQ(ring.take(1, 400).offset, 400U);
  const Ring::Room third = ring.take(5, 400);
  EXPECT_EQ(third.offset, 0U) << "the rest of the ring is too short";
  EXPECT_EQ(third.before, 1U) << "the first call has that place";
  EXPECT_EQ(ring.take(6, 624).before, 2U);
}

TEST(Ring, ACallMayTakeAllOfIt) {
  Ring ring(ring_size);
  EXPECT_EQ(ring.take(3, ring_size).before, 0U);
  EXPECT_EQ(ring.take(7, ring_size).before, 4U);
  EXPECT_EQ(ring.take(8, 64).before, 8U);
}

TEST(Ring, ShortCallsHaveTheirOwnPlacesForLong) {
  Ring ring(ring_size);
  for (std::uint64_t turn = 0; turn < 16; ++turn) EXPECT_EQ(ring.take(turn, 64).before, 0U) << turn;
  EXPECT_EQ(ring.take(16, 64).before, 1U);
}

/// Of more calls than it keeps in mind, the oldest must be over, although nothing is at their places.
TEST(Ring, ForgetsNoCallThatMayGoOn) {
  Ring ring(std::size_t{64} << 20U);
  std::uint64_t before = 0;
  for (std::uint64_t turn = 0; turn < 1000; ++turn) before = ring.take(turn, 64).before;
  EXPECT_GT(before, 900U);
  EXPECT_LT(before, 990U);
}

TEST(Ring, NoCallThatMayGoOnIsWrittenOver) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    Ring ring(ring_size);
    struct Taken {
      std::uint64_t turn, begin, end;
    };
    std::vector<Taken> all;
    std::uint64_t before = 0;
    for (std::uint64_t turn = 0; turn < 400; turn += 1 + random() % 3) {
      const std::size_t length = 64 * (1 + random() % (round % 2 == 0 ? 16 : 4));
      const Ring::Room place = ring.take(turn, length);
      ASSERT_LE(place.offset + length, ring_size);
      ASSERT_LE(place.before, turn);
      ASSERT_GE(place.before, before) << "what was over stays over";
      before = place.before;
      for (const Taken& other : all) {
        const bool is_apart = place.offset >= other.end || other.begin >= place.offset + length;
        ASSERT_TRUE(is_apart || other.turn < place.before) << turn << ", " << other.turn;
      }
      all.push_back({turn, place.offset, place.offset + length});
    }
  }
}

}  // namespace
}  // namespace tutti::test
