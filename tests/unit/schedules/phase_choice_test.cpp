// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/phase_choice.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "schedules/levels.hpp"

namespace tutti::schedules {
namespace {

constexpr LevelPace pace{8192, 2048};

TEST(PhaseChoice, TakesFewRoundsForShortAndFewBytesForLongVectors) {
  for (const int size : {4, 8, 64, 1024}) {
    const Algorithm& for_short = flat_for(Operation::allreduce, size, 8, pace);
    const Algorithm& for_long = flat_for(Operation::allreduce, size, 1e9, pace);
    EXPECT_LE(cost_of(for_short, size, 8).rounds, std::floor(std::log2(size))) << size;
    EXPECT_LE(cost_of(for_long, size, 1e9).bytes, 2.01e9) << size << ' ' << for_long.name;
    EXPECT_GE(cost_of(for_short, size, 1e9).bytes, 1.5 * cost_of(for_long, size, 1e9).bytes) << size;
  }
}

TEST(PhaseChoice, DearStartsMakeRoundsDear) {
  const double bytes = 1 << 18;
  const Algorithm& cheap = flat_for(Operation::bcast, 64, bytes, {256, 64});
  const Algorithm& dear = flat_for(Operation::bcast, 64, bytes, {1 << 20, 1 << 18});
  EXPECT_LT(cost_of(dear, 64, bytes).rounds, cost_of(cheap, 64, bytes).rounds);
}

TEST(PhaseChoice, ARankThatMovesManyMessagesAtOnceTakesFewRounds) {
  const double bytes = 1 << 15;
  EXPECT_EQ(flat_for(Operation::reduce, 16, bytes, {2048, 512, 1, 16, 16}).name, "direct");
  EXPECT_NE(flat_for(Operation::reduce, 16, bytes, {2048, 512, 16, 16, 1}).name, "direct");
}

TEST(PhaseChoice, RanksOfANodeShareWhatOneOfThemTakesAtOnce) {
  Spread spread;
  spread.size = spread.nodes = 16;
  spread.starts.across = {2048, 512, 1, 16, 16};
  EXPECT_EQ(cost_across(spread, Operation::reduce, 1 << 15, 1).cost.rounds, 1);
  EXPECT_GT(cost_across(spread, Operation::reduce, 1 << 15, 16).cost.rounds, 1);
}

TEST(PhaseChoice, MessagesToOneRankArriveTogether) {
  EXPECT_EQ(hidden_part(*find_algorithm(Operation::reduce, "direct")), 0);
  EXPECT_EQ(hidden_part(*find_algorithm(Operation::reduce, "knomial")), hardly_hidden);
  EXPECT_EQ(hidden_part(*find_algorithm(Operation::bcast, "knomial")), mostly_hidden);
  EXPECT_EQ(hidden_part(*find_algorithm(Operation::reduce, "double_tree")), mostly_hidden / 2);
  EXPECT_EQ(hidden_part(*find_algorithm(Operation::bcast, "double_tree")), mostly_hidden);
  EXPECT_EQ(hidden_part(*find_algorithm(Operation::gather, "knomial")), hardly_hidden);
  EXPECT_EQ(hidden_part(*find_algorithm(Operation::scatter, "binomial")), hardly_hidden);
}

TEST(PhaseChoice, ASharedLinkMakesBytesDear) {
  const double bytes = 1 << 14;
  const Algorithm& alone = flat_for(Operation::allreduce, 16, bytes, {10240, 3072});
  LevelPace of_sixteen{10240, 3072, 1.0 / 16};
  of_sixteen.passing = 1.0 / 16;
  const Algorithm& shared = flat_for(Operation::allreduce, 16, bytes, of_sixteen);
  EXPECT_LT(cost_of(shared, 16, bytes).bytes, cost_of(alone, 16, bytes).bytes);
}

TEST(PhaseChoice, KeepsOrderWhereAsked) {
  bool differs = false;
  for (const Operation operation : {Operation::reduce, Operation::allreduce, Operation::reduce_scatter})
    for (int size = 2; size <= 40; ++size)
      for (double bytes = 8; bytes < 1e9; bytes *= 8) {
        EXPECT_TRUE(flat_for(operation, size, bytes, pace, KeepOrder::yes).ordered);
        differs = differs || !flat_for(operation, size, bytes, pace).ordered;
      }
  EXPECT_TRUE(differs);
}

TEST(PhaseChoice, TakesOnlyWhatWorksForTheNumberOfRanks) {
  for (int i = 0; i <= static_cast<int>(Operation::alltoallv); ++i)
    for (int size = 1; size <= 70; ++size)
      for (double bytes = 0; bytes < 1e9; bytes = 16 * bytes + 8) {
        const Algorithm& flat = flat_for(static_cast<Operation>(i), size, bytes, pace);
        EXPECT_TRUE(fits(flat, size));
        EXPECT_TRUE(flat.max_size == 0 || size <= flat.max_size);
      }
}

TEST(PhaseChoice, TreesGoOneWayAndExchangesBoth) {
  EXPECT_FALSE(goes_both_ways(*find_algorithm(Operation::bcast, "binomial")));
  EXPECT_FALSE(goes_both_ways(*find_algorithm(Operation::gather, "linear")));
  EXPECT_FALSE(goes_both_ways(*find_algorithm(Operation::scatter, "binomial")));
  EXPECT_TRUE(goes_both_ways(*find_algorithm(Operation::bcast, "scatter_doubling")));
  EXPECT_TRUE(goes_both_ways(*find_algorithm(Operation::reduce, "rabenseifner")));
  EXPECT_TRUE(goes_both_ways(*find_algorithm(Operation::reduce, "circulant")));
  EXPECT_TRUE(goes_both_ways(*find_algorithm(Operation::allgather, "ring")));
}

TEST(PhaseChoice, RingsPassOnAndPairsExchange) {
  EXPECT_EQ(passing_part(*find_algorithm(Operation::allgather, "ring")), 1);
  for (const std::string_view name : {"bruck", "circulant"})
    EXPECT_EQ(passing_part(*find_algorithm(Operation::allgather, name)), 0.5) << name;
  for (const std::string_view name : {"recursive_doubling", "neighbor_exchange"})
    EXPECT_EQ(passing_part(*find_algorithm(Operation::allgather, name)), 0) << name;
  EXPECT_EQ(passing_part(*find_algorithm(Operation::bcast, "binomial")), 1);
  EXPECT_EQ(passing_part(*find_algorithm(Operation::bcast, "scatter_doubling")), 0.5);
  const double bytes = 1 << 24;
  LevelPace network{1024, 256};
  EXPECT_EQ(flat_for(Operation::allreduce, 64, bytes, network).name, "rabenseifner");
  network.passing = 2;
  EXPECT_EQ(passing_part(flat_for(Operation::allreduce, 64, bytes, network)), 1);
}

}  // namespace
}  // namespace tutti::schedules
