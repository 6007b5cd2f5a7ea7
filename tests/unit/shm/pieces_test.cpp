// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/pieces.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "example.hpp"

namespace tutti::test {
namespace {

using detail::ceil_div;
using detail::Shape;
using namespace detail::shm;

TEST(Pieces, RangesCoverEveryElementExactlyOnce) {
  for (int size = 1; size <= 40; ++size)
    for (std::size_t unit = 1; unit <= 16; ++unit)
      for (const std::size_t count : {0, 1, 2, 15, 16, 17, 63, 64, 65, 1000, 4099}) {
        const Signature signature = signature_of(Operation::allreduce, count, Datatype::bytes(unit));
        const Binding binding;
        const Shape who(signature, binding, 0, size);
        std::size_t next = 0;
        for (int index = 0; index < size; ++index) {
          const auto range = range_of(who, unit, index);
          if (range.bytes == 0) continue;
          ASSERT_EQ(range.offset, next) << size << " ranks, " << count << " of " << unit << " bytes";
          ASSERT_EQ(range.bytes % unit, 0U);
          next += range.bytes;
        }
        ASSERT_EQ(next, count * unit) << size << " ranks, " << count << " of " << unit << " bytes";
      }
}

TEST(Pieces, RangesOfASplitResultAreItsParts) {
  constexpr int size = 5;
  const Signature signature = signature_of(Operation::reduce_scatter_block, 7);
  const Binding binding;
  const Shape who(signature, binding, 0, size);
  for (int index = 0; index < size; ++index) {
    EXPECT_EQ(range_of(who, 4, index).offset, static_cast<std::size_t>(index) * 28);
    EXPECT_EQ(range_of(who, 4, index).bytes, 28U);
  }
}

TEST(Pieces, TwoRanksNeverWriteOneLine) {
  for (const std::size_t unit : {1, 2, 4, 8, 16, 32, 64}) {
    const Signature signature = signature_of(Operation::allreduce, 4099, Datatype::bytes(unit));
    const Binding binding;
    const Shape who(signature, binding, 0, 7);
    for (int index = 0; index < 7; ++index) {
      const auto range = range_of(who, unit, index);
      if (range.bytes == 0) continue;
      EXPECT_EQ(range.offset % cache_line, 0U);
    }
  }
}

TEST(Pieces, CombinedOnesAreWholeElements) {
  const Binding binding;
  for (int size = 2; size <= 40; ++size)
    for (const std::size_t unit : {1, 3, 8, 16, 100, 4096, 100'000}) {
      const Signature signature = signature_of(Operation::allreduce, 10, Datatype::bytes(unit));
      const std::size_t piece = combined_piece(Shape(signature, binding, 0, size), unit);
      EXPECT_GT(piece, 0U);
      EXPECT_EQ(piece % unit, 0U);
    }
}

TEST(Pieces, MovedOnesAreFewForShortMessagesAndShortForLongOnes) {
  for (const Operation operation : all_operations)
    for (const std::size_t bytes : {1UL, 4096UL, 1UL << 20U, 1UL << 30U}) {
      const std::size_t piece = moved_piece(operation, bytes);
      EXPECT_GT(piece, 0U);
      EXPECT_LE(piece, std::size_t{1} << 20U) << "a rank that comes late must find work left";
      EXPECT_LE(ceil_div(bytes, piece), std::max<std::size_t>(4, bytes / (64 * page)));
    }
}

TEST(Pieces, EachIsTakenOnceByManyThreads) {
  constexpr std::size_t total = 20'000;
  constexpr Generation generation = 5;
  std::atomic<std::uint64_t> taken{tagged(generation - 1, 17)};
  std::atomic<std::uint64_t> finished{tagged(generation - 1, total)};
  std::vector<std::atomic<int>> times(total);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      std::size_t index = 0;
      while (take_piece(taken, generation, total, index)) {
        times[index].fetch_add(1);
        finish_piece(finished, generation);
      }
    });
  for (auto& thread : threads) thread.join();
  for (const auto& t : times) ASSERT_EQ(t.load(), 1);
  EXPECT_TRUE(is_finished(finished, generation, total));
  EXPECT_FALSE(is_finished(finished, generation, total + 1));
}

TEST(Pieces, AnUnclaimedOneIsFinishedOnce) {
  std::atomic<std::uint64_t> finished{tagged(4, 3)};
  EXPECT_FALSE(is_finished(finished, 5, 1));
  finish_unclaimed(finished, 5);
  EXPECT_TRUE(is_finished(finished, 5, 1));
  EXPECT_FALSE(is_finished(finished, 5, 2));
  EXPECT_FALSE(is_finished(finished, 6, 1));
}

TEST(Pieces, AnEarlierGenerationIsNotFinished) {
  std::atomic<std::uint64_t> word{tagged(3, 8)};
  EXPECT_TRUE(is_finished(word, 3, 8));
  EXPECT_FALSE(is_finished(word, 4, 1));
  EXPECT_TRUE(is_finished(word, 4, 0));
  std::size_t index = 99;
  EXPECT_TRUE(take_piece(word, 4, 1, index));
  EXPECT_EQ(index, 0U);
  EXPECT_FALSE(take_piece(word, 4, 1, index));
}

}  // namespace
}  // namespace tutti::test
