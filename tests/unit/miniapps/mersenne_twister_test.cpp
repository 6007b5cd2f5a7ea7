// SPDX-License-Identifier: BSD-3-Clause
#include "common/mersenne_twister.hpp"

#include <gtest/gtest.h>

#include <random>

namespace tutti::miniapps {
namespace {

TEST(MersenneTwister, IsTheStandardLibrarys) {
  for (const std::uint32_t seed : {0U, 1U, 727U, 4294967295U}) {
    MersenneTwister ours(seed);
    std::mt19937 standard(seed);
    for (int i = 0; i < 3000; ++i) {
      ASSERT_EQ(ours.next(), standard()) << "seed " << seed << ", number " << i;
    }
  }
}

TEST(MersenneTwister, DiscardEqualsDrawing) {
  MersenneTwister ours(3);
  std::mt19937 standard(3);
  for (const std::uint64_t count : {0U, 1U, 622U, 1U, 0U, 624U, 623U, 625U, 1248U, 10000U, 623U, 1247U}) {
    ours.discard(count);
    standard.discard(count);
    ASSERT_EQ(ours.next(), standard()) << "after " << count;
  }
}

TEST(MersenneTwister, TakesWhatComesNext) {
  MersenneTwister ours(4);
  std::mt19937 standard(4);
  for (const std::size_t most : {1U, 5U, 617U, 3U, 624U, 2000U}) {
    const auto words = ours.take(most);
    ASSERT_GT(words.size(), 0U);
    ASSERT_LE(words.size(), most);
    for (const std::uint32_t word : words) {
      ASSERT_EQ(word, standard());
    }
  }
}

TEST(MersenneTwister, ACopyGoesItsOwnWay) {
  MersenneTwister first(5);
  first.discard(100);
  MersenneTwister copy = first;
  const std::uint32_t next = copy.next();
  copy.discard(2000);
  EXPECT_EQ(first.next(), next);
}

}  // namespace
}  // namespace tutti::miniapps
