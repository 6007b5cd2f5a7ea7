// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <set>
#include <tutti/error.hpp>
#include <tutti/sharding_plan.hpp>

#include "training/embedding/collection_sections.hpp"
#include "training/embedding/plan_cost.hpp"

namespace {

using namespace tutti;

PlannerFacts ranks(std::size_t count, std::size_t per_node = 64) {
  PlannerFacts facts;
  facts.node_of.clear();
  for (std::size_t r = 0; r < count; ++r) facts.node_of.push_back(static_cast<int>(r / per_node));
  facts.exchange_latency = 1e-6;
  return facts;
}

EmbeddingTableConfig table(const std::string& name, std::int64_t rows, std::size_t dim,
                           Sharding sharding = Sharding::automatic, double lookups = 1) {
  return {name, rows, dim, DatatypeKind::float32, kernels::Pooling::sum, lookups, sharding};
}

// Criteo Kaggle's 26 tables.
std::vector<EmbeddingTableConfig> kaggle() {
  std::vector<EmbeddingTableConfig> tables;
  for (const std::int64_t rows :
       {1461, 584,   10131227, 2202608, 306,  24,   12518, 634,     4,  93146, 5684,   8351593, 3195,
        28,   14993, 5461306,  11,      5653, 2173, 4,     7046547, 18, 16,    286181, 105,     142572})
    tables.push_back(table(std::to_string(tables.size()), rows, 16));
  return tables;
}

std::string message(const PlannerFacts& facts, const std::vector<EmbeddingTableConfig>& tables,
                    const PlannerOptions& options) {
  try {
    (void)plan_sharding(facts, tables, options);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
    return e.what();
  }
  return {};
}

TEST(ShardingPlan, EveryPlanCoversItsTables) {
  for (const std::size_t count : {1U, 2U, 3U, 4U, 7U, 64U}) {
    for (const Sharding sharding : {Sharding::automatic, Sharding::data_parallel, Sharding::table_wise,
                                    Sharding::row_wise, Sharding::column_wise, Sharding::row_wise_on_node}) {
      auto tables = kaggle();
      for (auto& t : tables) t.sharding = sharding;
      const auto plan = plan_sharding(ranks(count, 2), tables, {.batch = 2048});
      EXPECT_NO_THROW(plan.validate(tables)) << count << " ranks, " << sharding_name(sharding);
      ASSERT_EQ(plan.prediction.size(), count);
      for (std::size_t t = 0; t < tables.size() && sharding != Sharding::automatic; ++t)
        EXPECT_EQ(plan.shardings[t], sharding);
    }
  }
}

TEST(ShardingPlan, BytesAreThoseOfTheShards) {
  const auto tables = kaggle();
  for (const auto& [optimizer, values] :
       {std::pair(kernels::RowOptimizer::sgd, 1U), std::pair(kernels::RowOptimizer::adagrad, 2U),
        std::pair(kernels::RowOptimizer::adam, 3U)}) {
    const auto plan = plan_sharding(ranks(4), tables, {.batch = 2048, .optimizer = optimizer});
    std::size_t sum = 0;
    for (const auto& load : plan.prediction) sum += load.bytes;
    // Rows and state are arrays of their own, each in whole blocks of 128 bytes.
    const auto padded = [](std::size_t bytes) { return (bytes + 127) / 128 * 128; };
    std::size_t expected = 0;
    for (const TableShard& shard : plan.shards) {
      const std::size_t row_values = static_cast<std::size_t>(shard.rows()) * shard.columns();
      expected += padded(row_values * 4) + padded(row_values * (values - 1) * 4);
    }
    EXPECT_EQ(sum, expected);
  }
}

TEST(ShardingPlan, TableWiseIsBalanced) {
  std::vector<EmbeddingTableConfig> tables;
  for (int t = 0; t < 8; ++t) tables.push_back(table(std::to_string(t), 1000, 64, Sharding::table_wise, 100));
  const auto plan = plan_sharding(ranks(4), tables, {.batch = 2048});
  for (const auto& load : plan.prediction) EXPECT_DOUBLE_EQ(load.lookups, 2 * 100 * 2048.0);
}

TEST(ShardingPlan, FewerTablesThanRanksAreDivided) {
  const std::vector<EmbeddingTableConfig> tables{table("a", 1000000, 64, Sharding::automatic, 100),
                                                 table("b", 1000000, 64, Sharding::automatic, 100)};
  auto whole = tables;
  for (auto& t : whole) t.sharding = Sharding::table_wise;
  const PlannerOptions options{.batch = 2048};
  const auto plan = plan_sharding(ranks(8), tables, options);
  const auto undivided = plan_sharding(ranks(8), whole, options);
  EXPECT_LT(plan.seconds(), 0.5 * undivided.seconds());
  std::set<int> used;
  for (const auto& shard : plan.shards) used.insert(shard.rank);
  EXPECT_EQ(used.size(), 8U);
}

/// All equally slow: to divide one of them leaves the slowest rank as slow as it was.
TEST(ShardingPlan, ManyEqualTablesOnMoreRanksAreDivided) {
  std::vector<EmbeddingTableConfig> tables;
  for (int t = 0; t < 32; ++t) tables.push_back(table(std::to_string(t), 1000000, 128));
  auto whole = tables;
  for (auto& t : whole) t.sharding = Sharding::table_wise;
  const PlannerOptions options{.batch = 65536};
  const auto plan = plan_sharding(ranks(256, 1), tables, options);
  EXPECT_LT(plan.seconds(), 0.6 * plan_sharding(ranks(256, 1), whole, options).seconds());
  EXPECT_EQ(std::ranges::count(plan.shardings, Sharding::column_wise), 32);
}

TEST(ShardingPlan, TheSearchNeverMakesItWorse) {
  for (const std::size_t count : {2U, 4U, 16U}) {
    auto whole = kaggle();
    for (auto& t : whole) t.sharding = Sharding::table_wise;
    const PlannerOptions options{.batch = 128 * count};
    EXPECT_LE(plan_sharding(ranks(count), kaggle(), options).seconds(),
              plan_sharding(ranks(count), whole, options).seconds());
  }
}

TEST(ShardingPlan, AnExchangeIn16BitsTakesHalfTheTime) {
  PlannerFacts facts = ranks(4);
  facts.exchange_latency = 0;
  const std::vector<EmbeddingTableConfig> tables{table("a", 1000, 64, Sharding::table_wise),
                                                 table("b", 1000, 64, Sharding::row_wise)};
  PlannerOptions options{.batch = 2048};
  const auto wide = plan_sharding(facts, tables, options);
  options.exchange_type = DatatypeKind::bfloat16;
  const auto narrow = plan_sharding(facts, tables, options);
  ASSERT_EQ(narrow.shards, wide.shards);
  for (std::size_t r = 0; r < 4; ++r) {
    EXPECT_DOUBLE_EQ(narrow.prediction[r].exchange_seconds, wide.prediction[r].exchange_seconds / 2);
    EXPECT_EQ(narrow.prediction[r].lookup_seconds, wide.prediction[r].lookup_seconds);
  }
  options.exchange_type = DatatypeKind::uint8;
  EXPECT_THROW((void)plan_sharding(facts, tables, options), Error);
}

// Bytes cost nothing here, and each index a second, when it is read and when its row is updated.
TEST(ShardingPlan, AReplicaReadsForItsOwnSamplesAndIsUpdatedFromAll) {
  PlannerFacts facts = ranks(4);
  facts.row_bytes_rate = 1e30;
  facts.seconds_per_lookup = 1;
  PlannerOptions options;
  options.batch = 100;
  const auto seconds = [&](Sharding sharding) {
    const std::vector<EmbeddingTableConfig> tables{table("t", 1000, 8, sharding, 3)};
    std::vector<double> found;
    for (const RankLoad& load : detail::PlanCost(facts, tables, options).loads(plan_sharding(facts, tables, options)))
      found.push_back(std::round(load.lookup_seconds));
    std::sort(found.begin(), found.end());
    return found;
  };
  EXPECT_EQ(seconds(Sharding::data_parallel), std::vector<double>(4, 100 * 3 / 4 + 100 * 3));
  EXPECT_EQ(seconds(Sharding::table_wise), (std::vector<double>{0, 0, 0, 2 * 100 * 3}));
}

TEST(ShardingPlan, MemoryLimitIsKept) {
  const auto tables = kaggle();
  std::size_t all = 0;
  for (const auto& t : tables) all += static_cast<std::size_t>(t.rows) * 64;
  const std::size_t limit = all / 8 + all / 80;  // the largest table alone is more than a rank of 8 may have
  const auto plan = plan_sharding(ranks(8), tables, {.batch = 1024, .memory_limit = limit});
  EXPECT_NO_THROW(plan.validate(tables));
  for (const auto& load : plan.prediction) EXPECT_LE(load.bytes, limit);
}

TEST(ShardingPlan, ALimitThatCannotBeMetIsNamed) {
  const std::vector<EmbeddingTableConfig> tables{table("small", 10, 4), table("huge", 1000000, 64)};
  const auto text = message(ranks(2), tables, {.batch = 8, .memory_limit = 1000000});
  EXPECT_NE(text.find("'huge'"), std::string::npos) << text;
  EXPECT_NE(text.find("1000000 bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("Raise the limit"), std::string::npos) << text;
  auto fixed = tables;
  fixed[1].sharding = Sharding::table_wise;
  EXPECT_NE(message(ranks(2), fixed, {.batch = 8, .memory_limit = 200000000}), "");
}

TEST(ShardingPlan, RowWiseOnANodeStaysThere) {
  const std::vector<EmbeddingTableConfig> tables{table("a", 100, 8, Sharding::row_wise_on_node),
                                                 table("b", 100, 8, Sharding::row_wise_on_node)};
  const auto facts = ranks(6, 3);
  const auto plan = plan_sharding(facts, tables, {.batch = 64});
  std::set<int> nodes[2];
  for (const auto& shard : plan.shards) nodes[shard.table].insert(facts.node_of[static_cast<std::size_t>(shard.rank)]);
  EXPECT_EQ(nodes[0].size(), 1U);
  EXPECT_EQ(nodes[1].size(), 1U);
  EXPECT_NE(nodes[0], nodes[1]);
  EXPECT_EQ(plan.shards.size(), 6U);
}

TEST(ShardingPlan, EmptyShardsAreLeftOut) {
  const std::vector<EmbeddingTableConfig> tables{table("rows", 3, 8, Sharding::row_wise),
                                                 table("columns", 3, 2, Sharding::column_wise)};
  const auto plan = plan_sharding(ranks(8), tables, {.batch = 64});
  EXPECT_EQ(plan.shards.size(), 5U);
  EXPECT_NO_THROW(plan.validate(tables));
}

TEST(ShardingPlan, ImpossibleTablesAreNamed) {
  EXPECT_NE(message(ranks(2), {table("none", 0, 4)}, {}).find("'none'"), std::string::npos);
  EXPECT_NE(message(ranks(2), {table("twice", 1, 4), table("twice", 1, 4)}, {}).find("'twice'"), std::string::npos);
  auto largest = table("largest", 10, 4, Sharding::row_wise);
  largest.pooling = kernels::Pooling::max;
  EXPECT_NE(message(ranks(2), {largest}, {}).find("whole bags"), std::string::npos);
}

EmbeddingTableConfig skewed(std::vector<double> shares, std::int64_t rows = 1000) {
  EmbeddingTableConfig one = table("skewed", rows, 64, Sharding::row_wise, 3);
  one.lookup_shares = std::move(shares);
  one.row_order = RowOrder::blocks;
  return one;
}

TEST(ShardingPlan, LookupsFollowTheSharesOfRows) {
  constexpr double all = 64 * 3.0;
  const auto loads = [&](const EmbeddingTableConfig& one, int count) {
    std::vector<double> found;
    for (const auto& load :
         plan_sharding(ranks(static_cast<std::size_t>(count)), std::span(&one, 1), {.batch = 64}).prediction)
      found.push_back(load.lookups / all);
    return found;
  };
  using testing::DoubleEq;
  using testing::ElementsAre;
  EXPECT_THAT(loads(skewed({}), 2), ElementsAre(DoubleEq(0.5), DoubleEq(0.5)));
  EXPECT_THAT(loads(skewed({7, 1}), 2), ElementsAre(DoubleEq(0.875), DoubleEq(0.125)));
  EXPECT_THAT(loads(skewed({4, 2, 1, 1}), 2), ElementsAre(DoubleEq(0.75), DoubleEq(0.25)));
  EXPECT_THAT(loads(skewed({6, 2}), 4),
              ElementsAre(DoubleEq(0.375), DoubleEq(0.375), DoubleEq(0.125), DoubleEq(0.125)));
  EXPECT_THAT(loads(skewed({5}), 1), ElementsAre(DoubleEq(1)));
  // Rows 0 to 4 of 10 are 1.5 of three blocks, whose second one has 2 of 8 lookups.
  EXPECT_THAT(loads(skewed({5, 2, 1}, 10), 2), ElementsAre(DoubleEq(0.75), DoubleEq(0.25)));
}

TEST(ShardingPlan, RowsThatAreLookedUpOftenAreNotDividedByBlocks) {
  EmbeddingTableConfig one = table("skewed", 1000000, 64, Sharding::automatic, 100);
  one.lookup_shares.assign(256, 0.001);
  one.lookup_shares[0] = 1000;
  one.row_order = RowOrder::blocks;
  const auto plan = plan_sharding(ranks(4), std::span(&one, 1), {.batch = 2048});
  EXPECT_NE(plan.shardings[0], Sharding::row_wise);
  auto by_blocks = one;
  by_blocks.sharding = Sharding::row_wise;
  EXPECT_LT(plan.seconds(), 0.7 * plan_sharding(ranks(4), std::span(&by_blocks, 1), {.batch = 2048}).seconds());
}

TEST(ShardingPlan, ImpossibleSharesAreNamed) {
  for (const std::vector<double>& shares :
       {std::vector<double>{1, -1}, {0, 0}, {1, std::numeric_limits<double>::quiet_NaN()}, {1, 1e308, 1e308}}) {
    const std::string text = message(ranks(2), {skewed(shares)}, {});
    EXPECT_NE(text.find("lookup_shares of table 0 'skewed'"), std::string::npos) << text;
  }
}

TEST(ShardingPlan, PlansByHandAreChecked) {
  const std::vector<EmbeddingTableConfig> tables{table("a", 10, 4)};
  const auto fails = [&](const ShardingPlan& plan) {
    try {
      plan.validate(tables);
    } catch (const Error& e) {
      return std::string(e.what()).find("'a'") != std::string::npos;
    }
    return false;
  };
  ShardingPlan plan;
  plan.ranks = 2;
  plan.shardings = {Sharding::row_wise};
  plan.shards = {{0, 0, 0, 5, 0, 4}, {0, 1, 5, 10, 0, 4}};
  EXPECT_FALSE(fails(plan));
  plan.shards[1].row_begin = 4;
  EXPECT_TRUE(fails(plan)) << "overlap";
  plan.shards[1].row_begin = 6;
  EXPECT_TRUE(fails(plan)) << "gap";
  plan.shards[1] = {0, 2, 5, 10, 0, 4};
  EXPECT_TRUE(fails(plan)) << "rank";
  plan.shards[1] = {0, 1, 5, 11, 0, 4};
  EXPECT_TRUE(fails(plan)) << "row";
  plan.shards = {{0, 0, 0, 10, 0, 4, 2}, {0, 1, 1, 10, 0, 4, 2}};
  EXPECT_FALSE(fails(plan)) << "cyclic";
  plan.shards[1].row_begin = 0;
  EXPECT_TRUE(fails(plan)) << "the same rows twice";
  plan.shards[1] = {0, 1, 1, 10, 0, 4, 4};
  EXPECT_TRUE(fails(plan)) << "rows that no rank has";
  plan.shards[1].row_step = 0;
  EXPECT_TRUE(fails(plan)) << "step";
  plan.shards[1] = {0, 1, 1, 10, 0, 4, 2};
  plan.shardings = {Sharding::data_parallel};
  EXPECT_TRUE(fails(plan)) << "replica";
}

TEST(ShardingPlan, TextNamesTablesAndRanks) {
  const std::vector<EmbeddingTableConfig> tables{table("users", 1000, 64, Sharding::row_wise),
                                                 table("items", 10, 64, Sharding::data_parallel)};
  const auto text = plan_sharding(ranks(2), tables, {.batch = 64}).text();
  for (const char* part : {"users", "items", "row-wise", "data-parallel", "rows 0-499", "rows 500-999", "exchange ms"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

/// By the processor time of this thread, which other programs do not change much. A planner that grows with the square
/// of ranks times tables takes minutes here.
TEST(ShardingPlan, LargePlansAreQuick) {
  auto tables = kaggle();
  const auto seconds = [] {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  };
  const double begin = seconds();
  const auto plan = plan_sharding(ranks(512, 8), tables, {.batch = 65536});
  EXPECT_LT(seconds() - begin, 10);
  EXPECT_NO_THROW(plan.validate(tables));
}

TEST(ShardingPlan, BlocksOfTwoPlansMeetWhereBothAre) {
  using detail::Block;
  for (const bool turned : {false, true}) {
    const Block a{{2, 8}, 0, 4};
    const Block b{{5, 10}, 2, 6};
    const auto common = turned ? detail::common_block(b, a) : detail::common_block(a, b);
    ASSERT_TRUE(common);
    EXPECT_EQ(common->rows, (TableRows{5, 8}));
    EXPECT_EQ(common->column_begin, 2U);
    EXPECT_EQ(common->column_end, 4U);
  }
  EXPECT_FALSE(detail::common_block({{0, 5}, 0, 4}, {{5, 10}, 0, 4}));
}

}  // namespace
