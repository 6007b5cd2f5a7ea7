// SPDX-License-Identifier: BSD-3-Clause
// Predicted loads of skewed tables, against the mean of those that are counted in batches of other lookups by one law.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tutti/error.hpp>
#include <tutti/sharding_plan.hpp>
#include <vector>

#include "kernelbench/random_rows.hpp"

namespace {

using namespace tutti;

constexpr std::size_t rows = 1000003;
constexpr std::size_t batch = 1 << 17;
constexpr std::size_t batches = 8;

PlannerFacts facts_of(std::size_t count) {
  PlannerFacts facts;
  facts.node_of.assign(count, 0);
  return facts;
}

/// Lookups by Zipf's law with exponent 1.05: rows in the order of their frequency, as data numbers them that meets the
/// frequent ones first, or scattered, as a hash does.
std::vector<std::int64_t> drawn(std::size_t count, std::uint64_t seed, bool is_scattered) {
  kernelbench::RandomRows draw(rows, 1.05, seed);
  std::vector<std::int64_t> place(rows);
  for (std::size_t k = 0; k < rows; ++k) place[k * 2654435761 % rows] = static_cast<std::int64_t>(k);
  std::vector<std::int64_t> lookups(count);
  for (std::int64_t& row : lookups) row = is_scattered ? draw() : place[static_cast<std::size_t>(draw())];
  return lookups;
}

EmbeddingTableConfig table_of(const std::vector<std::int64_t>& lookups, RowOrder order) {
  EmbeddingTableConfig table{"zipf", rows, 16};
  table.sharding = Sharding::row_wise;
  table.row_order = order;
  table.lookup_shares.assign(1024, 0);
  for (const std::int64_t row : lookups) table.lookup_shares[static_cast<std::size_t>(row) * 1024 / rows] += 1;
  table.frequencies = count_rows(lookups);
  return table;
}

std::vector<int> owners(const ShardingPlan& plan) {
  std::vector<int> of_row(rows, -1);
  for (const TableShard& shard : plan.shards)
    for (std::int64_t place = 0; place < shard.rows(); ++place)
      of_row[static_cast<std::size_t>(shard.table_rows().row(place))] = shard.rank;
  return of_row;
}

/// The mean loads of the ranks over batches.
std::vector<RankLoad> counted(const ShardingPlan& plan, const std::vector<std::int64_t>& lookups) {
  const auto owner = owners(plan);
  const double part = static_cast<double>(batch) / static_cast<double>(lookups.size());
  std::vector<RankLoad> loads(static_cast<std::size_t>(plan.ranks));
  std::vector<std::size_t> last_batch(rows, lookups.size());
  for (std::size_t i = 0; i < lookups.size(); ++i) {
    const auto row = static_cast<std::size_t>(lookups[i]);
    RankLoad& load = loads.at(static_cast<std::size_t>(owner[row]));
    load.lookups += part;
    load.distinct_rows += last_batch[row] == i / batch ? 0 : part;
    last_batch[row] = i / batch;
  }
  return loads;
}

double imbalance(const std::vector<RankLoad>& loads, double RankLoad::*load) {
  double most = 0;
  double all = 0;
  for (const RankLoad& each : loads) {
    most = std::max(most, each.*load);
    all += each.*load;
  }
  return most * static_cast<double>(loads.size()) / all;
}

/// Each rank to within 5 % of its load, or of the mean where it has less.
void expect_close(const std::vector<RankLoad>& predicted, const std::vector<RankLoad>& loads, double RankLoad::*load,
                  const std::string& where) {
  double all = 0;
  for (const RankLoad& each : loads) all += each.*load;
  for (std::size_t r = 0; r < loads.size(); ++r) {
    const double count = loads[r].*load;
    EXPECT_NEAR(predicted[r].*load, count, 0.05 * std::max(count, all / static_cast<double>(loads.size())))
        << where << ", rank " << r << " of " << loads.size();
  }
}

TEST(RowFrequencies, PredictLookupsAndDistinctRows) {
  for (const bool is_scattered : {false, true}) {
    const auto data = drawn(16 * batch, 1, is_scattered);
    const auto lookups = drawn(batches * batch, 2, is_scattered);
    for (const RowOrder order : {RowOrder::blocks, RowOrder::cyclic}) {
      const EmbeddingTableConfig table = table_of(data, order);
      for (const std::size_t count : {2U, 8U, 64U}) {
        const auto plan = plan_sharding(facts_of(count), std::span(&table, 1), {.batch = batch});
        plan.validate(std::span(&table, 1));
        const std::string where = std::string(is_scattered ? "scattered, " : "by frequency, ") + row_order_name(order);
        const auto loads = counted(plan, lookups);
        expect_close(plan.prediction, loads, &RankLoad::lookups, where + ", lookups");
        expect_close(plan.prediction, loads, &RankLoad::distinct_rows, where + ", distinct rows");
        if (is_scattered || count != 8) continue;
        const bool is_cyclic = order == RowOrder::cyclic;
        EXPECT_EQ(imbalance(loads, &RankLoad::distinct_rows) <= 1.1, is_cyclic);
        EXPECT_NEAR(imbalance(plan.prediction, &RankLoad::distinct_rows), imbalance(loads, &RankLoad::distinct_rows),
                    0.1);
      }
    }
  }
}

/// Without buckets for what is rare, each lookup beside the hot rows would be of a row of its own.
TEST(RowFrequencies, OfASampleThatIsShorterThanABatchPredictTooFewRows) {
  const auto few = drawn(batch / 16, 1, true);
  const EmbeddingTableConfig table = table_of(few, RowOrder::cyclic);
  const auto plan = plan_sharding(facts_of(2), std::span(&table, 1), {.batch = batch});
  const auto loads = counted(plan, drawn(batches * batch, 2, true));
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_LT(plan.prediction[r].distinct_rows, loads[r].distinct_rows);
    EXPECT_NEAR(plan.prediction[r].lookups, loads[r].lookups, 0.05 * loads[r].lookups);
  }
}

TEST(RowFrequencies, AreCounted) {
  const RowFrequencies counted = count_rows({5, 7, 7, 7, 7, 7, 2, 2, 2, 2, 9, 9, 9, 1, 1, 4}, 2);
  EXPECT_EQ(counted.hot_rows, (std::vector<std::int64_t>{7, 2}));
  EXPECT_EQ(counted.hot_lookups, (std::vector<double>{5, 4}));
  EXPECT_EQ(counted.bucket_rows, (std::vector<double>{2, 2}));
  EXPECT_EQ(counted.bucket_lookups, (std::vector<double>{2, 5}));
  EXPECT_TRUE(count_rows({}).empty());
}

/// Rows 0 and 1 of 4 have all lookups, 6 and 2 of 8: a rank has each of them in cyclic order.
TEST(RowFrequencies, PutEachHotRowWhereItIs) {
  EmbeddingTableConfig table{"hot", 4, 8};
  table.sharding = Sharding::row_wise;
  table.mean_lookups = 2;
  table.frequencies = {{1, 0}, {2, 6}, {}, {}};
  const auto loads = [&](RowOrder order) {
    table.row_order = order;
    return plan_sharding(facts_of(2), std::span(&table, 1), {.batch = 16}).prediction;
  };
  EXPECT_DOUBLE_EQ(loads(RowOrder::blocks)[0].lookups, 32);
  EXPECT_DOUBLE_EQ(loads(RowOrder::blocks)[1].lookups, 0);
  EXPECT_DOUBLE_EQ(loads(RowOrder::cyclic)[0].lookups, 24);
  EXPECT_DOUBLE_EQ(loads(RowOrder::cyclic)[1].lookups, 8);
  EXPECT_NEAR(loads(RowOrder::cyclic)[0].distinct_rows, 1, 1e-6);
}

TEST(RowFrequencies, LetThePlannerChooseTheOrder) {
  EmbeddingTableConfig table{"t", 100000, 64};
  table.sharding = Sharding::row_wise;
  const auto step = [&] {
    return plan_sharding(facts_of(4), std::span(&table, 1), {.batch = 4096}).shards.front().row_step;
  };
  EXPECT_EQ(step(), 1) << "nothing is known";
  table.lookup_shares = {1, 0, 0, 0};
  EXPECT_EQ(step(), 4) << "one block has all lookups";
  table.row_order = RowOrder::blocks;
  EXPECT_EQ(step(), 1) << "blocks are asked for";
  table.lookup_shares.clear();
  table.row_order = RowOrder::cyclic;
  EXPECT_EQ(step(), 4) << "cyclic order is asked for";
  table.sharding = Sharding::row_wise_on_node;
  PlannerFacts two_nodes;
  two_nodes.node_of = {0, 0, 1, 1};
  EXPECT_EQ(plan_sharding(two_nodes, std::span(&table, 1), {.batch = 64}).shards.front().row_step, 2);
}

TEST(RowFrequencies, AreInTheTextOfThePlan) {
  EmbeddingTableConfig table{"t", 10, 8};
  table.sharding = Sharding::row_wise;
  table.row_order = RowOrder::cyclic;
  table.frequencies = {{0, 1}, {3, 1}, {}, {}};
  const std::string text = plan_sharding(facts_of(2), std::span(&table, 1), {.batch = 64}).text();
  for (const char* part : {"0 rows 0-8:2, 1 rows 1-9:2", "distinct rows", "lookups 1.50, distinct rows 1.00"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(RowFrequencies, ThatAreImpossibleAreNamed) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const RowFrequencies& wrong : {RowFrequencies{{1}, {}, {}, {}},
                                      {{1}, {-1}, {}, {}},
                                      {{1}, {0}, {}, {}},
                                      {{1, 1}, {2, 2}, {}, {}},
                                      {{10}, {1}, {}, {}},
                                      {{-1}, {1}, {}, {}},
                                      {{}, {}, {3}, {}},
                                      {{}, {}, {11}, {1}},
                                      {{}, {}, {0}, {1}},
                                      {{}, {}, {3}, {nan}}}) {
    EmbeddingTableConfig table{"t", 10, 8};
    table.frequencies = wrong;
    try {
      (void)plan_sharding(facts_of(2), std::span(&table, 1), {});
      ADD_FAILURE() << "not refused";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string(e.what()).find("frequencies of table 0 't' "), std::string::npos) << e.what();
    }
  }
}

}  // namespace
