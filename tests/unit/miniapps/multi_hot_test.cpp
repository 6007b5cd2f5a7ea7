// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "common/adult.hpp"
#include "common/criteo_text.hpp"
#include "common/multi_hot.hpp"
#include "common/random_data.hpp"
#include "support/batch_parts.hpp"
#include "support/temporary_folder.hpp"

namespace {

using namespace tutti::miniapps;
using Indices = std::vector<std::int64_t>;

Indices all_bags(MultiHotBags& bags, std::size_t table) {
  Indices ids(bags.rows()[table]);
  std::iota(ids.begin(), ids.end(), 0);
  Indices all(ids.size() * bags.sizes()[table]);
  bags.expand(table, ids, all);
  return all;
}

std::int64_t order_sensitive_sum(const Indices& values) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += values[i] * static_cast<std::int64_t>(1 + i % 1009);
  }
  return sum;
}

/// numpy.random.seed(0), then randint(0, rows, size=(rows, size - 1)) of each table; numpy 2.4.
TEST(MultiHotBags, AreNumpys) {
  MultiHotBags bags({5, 1, 70, 3, 100000}, {3, 4, 1, 2, 5}, BagRule::numpy);
  EXPECT_EQ(all_bags(bags, 0), (Indices{0, 4, 0, 1, 3, 3, 2, 3, 1, 3, 3, 2, 4, 4, 0}));
  EXPECT_EQ(all_bags(bags, 1), (Indices{0, 0, 0, 0}));
  EXPECT_EQ(all_bags(bags, 3), (Indices{0, 0, 1, 0, 2, 2}));
  const Indices last = all_bags(bags, 4);
  EXPECT_EQ(Indices(last.begin(), last.begin() + 10),
            (Indices{0, 17089, 32230, 18983, 89688, 1, 82457, 93005, 6921, 38804}));
  EXPECT_EQ(Indices(last.end() - 5, last.end()), (Indices{99999, 67057, 49742, 44956, 3703}));
  const std::int64_t ids = 99999LL * 100000 / 2;
  EXPECT_EQ(std::accumulate(last.begin(), last.end(), std::int64_t{0}) - ids, 20003429054);
}

/// MLPerf's tables, rows capped at 1000: a sum over each that depends on order, by numpy.
TEST(MultiHotBags, AreMlperfs) {
  const std::vector<std::uint64_t> rows{1000, 1000, 1000, 1000, 1000, 3,  1000, 1000, 63,   1000, 1000, 1000, 10,
                                        1000, 1000, 155,  4,    976,  14, 1000, 1000, 1000, 1000, 1000, 108,  36};
  const std::vector<std::size_t> sizes{3, 2, 1, 2, 6, 1, 1,  1,   1,  7,  3, 8, 1,
                                       6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1};
  const Indices golden{776818303,  529213152,  333333000,  543335617, 1514851094, 8,          333333000,
                       333333000,  83328,      1736230568, 776185503, 2012671933, 330,        1515394559,
                       2251555823, 24479191,   20,         309904400, 910,        3015825510, 25223754971,
                       6772470019, 2515579442, 771950903,  419868,    15540};
  MultiHotBags bags(rows, sizes, BagRule::numpy);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    EXPECT_EQ(order_sensitive_sum(all_bags(bags, t)), golden[t]) << "table " << t;
  }
  EXPECT_EQ(bags.kept_bytes(), bag_bytes(rows, sizes));
}

TEST(MultiHotBags, WhichTablesAreAskedForDoesNotMatter) {
  const std::vector<std::uint64_t> rows{300, 7, 1, 4000, 50};
  const std::vector<std::size_t> sizes{4, 9, 3, 6, 1};
  for (const BagRule rule : {BagRule::numpy, BagRule::counter}) {
    MultiHotBags all(rows, sizes, rule);
    std::vector<Indices> want;
    for (std::size_t t = 0; t < rows.size(); ++t) {
      want.push_back(all_bags(all, t));
    }
    MultiHotBags backwards(rows, sizes, rule);
    for (std::size_t t = rows.size(); t-- > 0;) {
      EXPECT_EQ(all_bags(backwards, t), want[t]) << "table " << t;
    }
    MultiHotBags one(rows, sizes, rule);
    EXPECT_EQ(all_bags(one, 3), want[3]);
    EXPECT_EQ(one.kept_bytes(), rule == BagRule::numpy ? 4U * 4000 * 5 : 0U);
  }
}

/// Every index in range, each value about as often as any other; forty million rows need no memory.
TEST(MultiHotBags, CounterRuleIsUniform) {
  MultiHotBags bags({40000000, 10}, {101, 21}, BagRule::counter);
  std::array<int, 10> seen{};
  Indices ids(10000);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<std::int64_t>(i * 3999);
  }
  Indices out(ids.size() * 101);
  bags.expand(0, ids, out);
  for (std::size_t i = 0; i < out.size(); ++i) {
    ASSERT_GE(out[i], 0);
    ASSERT_LT(out[i], 40000000);
    if (i % 101 == 0) {
      EXPECT_EQ(out[i], ids[i / 101]);
    } else {
      ++seen[static_cast<std::size_t>(out[i] / 4000000)];
    }
  }
  const auto [least, most] = std::minmax_element(seen.begin(), seen.end());
  EXPECT_GT(*least, 98500);  // 100000 expected, deviation 300
  EXPECT_LT(*most, 101500);
  EXPECT_EQ(bags.kept_bytes(), 0U);
  MultiHotBags other({10, 10}, {21, 21}, BagRule::counter);
  EXPECT_NE(all_bags(other, 0), all_bags(other, 1));
}

constexpr std::size_t adult_tables = 17;

template <typename T>
std::vector<T> counting(T first) {
  std::vector<T> numbers(adult_tables);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

/// Adult's tables as bags of 1, 2, ... indices.
MultiHot adult_bags(std::uint64_t max_bytes = 1U << 20U) {
  MultiHotOptions options;
  options.sizes = counting<std::size_t>(1);
  options.max_bytes = max_bytes;
  return {std::make_unique<Adult>(123, std::string()), options};
}

TEST(MultiHot, IdsBecomeTheirBagsAndAllElseStays) {
  Adult single(123, std::string());
  ASSERT_EQ(single.table_rows().size(), adult_tables);
  MultiHot several = adult_bags();
  EXPECT_EQ(several.table_rows(), single.table_rows());
  EXPECT_EQ(several.mean_lookups(), counting<double>(1));
  single.begin_epoch(1);
  several.begin_epoch(1);
  const auto tables = counting<std::size_t>(0);
  MultiHotBags bags(single.table_rows(), counting<std::size_t>(1), BagRule::numpy);
  for (const Split split : {Split::train, Split::test}) {
    for (std::uint64_t k = 0; k < 3; ++k) {
      Batch a;
      Batch b;
      single.read(split, 100, k, {{10, 40}, tables}, a);
      several.read(split, 100, k, {{10, 40}, tables}, b);
      EXPECT_EQ(b.dense, a.dense);
      EXPECT_EQ(b.labels, a.labels);
      for (std::size_t t = 0; t < adult_tables; ++t) {
        Indices want(100 * (t + 1));
        bags.expand(t, a.tables[t].indices, want);
        EXPECT_EQ(b.tables[t].indices, want);
        ASSERT_EQ(b.tables[t].offsets.size(), 101U);
        for (std::size_t i = 0; i <= 100; ++i) {
          EXPECT_EQ(b.tables[t].offsets[i], static_cast<std::int64_t>(i * (t + 1)));
        }
      }
    }
  }
}

/// Two ranks that own different tables and slices see what one rank with all sees, and keep only their own bags.
TEST(MultiHot, IsTheSameOnEveryRank) {
  MultiHot whole = adult_bags();
  const auto all = counting<std::size_t>(0);
  const std::array<std::vector<std::size_t>, 2> owned{
      std::vector<std::size_t>{0, 3, 6}, std::vector<std::size_t>{1, 2, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
  Batch want;
  whole.read(Split::train, 64, 5, {{0, 64}, all}, want);
  std::uint64_t kept = 0;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    MultiHot part = adult_bags();
    Batch got;
    part.read(Split::train, 64, 5, {{32 * rank, 32 * rank + 32}, owned[rank]}, got);
    for (std::size_t i = 0; i < owned[rank].size(); ++i) {
      EXPECT_EQ(got.tables[i].indices, want.tables[owned[rank][i]].indices);
      EXPECT_EQ(got.tables[i].offsets, want.tables[owned[rank][i]].offsets);
    }
    kept += part.kept_bytes();
  }
  EXPECT_EQ(kept, whole.kept_bytes());
}

TEST(MultiHot, RanksReadTheirOwnSamples) {
  MultiHot data = adult_bags();
  expect_own_parts(data, Split::train, 64, 5, 3);
}

TEST(MultiHot, IdsAreTakenModuloTheRowsGiven) {
  MultiHotOptions options;
  options.sizes.assign(adult_tables, 2);
  options.rows.assign(adult_tables, 3);
  Adult single(123, std::string());
  MultiHot small(std::make_unique<Adult>(123, std::string()), options);
  const std::array<std::size_t, 1> table{5};
  Batch a;
  Batch b;
  single.read(Split::train, 50, 0, {{}, table}, a);
  small.read(Split::train, 50, 0, {{}, table}, b);
  EXPECT_EQ(small.table_rows()[5], 3U);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(b.tables[0].indices[2 * i], a.tables[0].indices[i] % 3);
    EXPECT_LT(b.tables[0].indices[2 * i + 1], 3);
  }
}

TEST(MultiHot, ErrorsNameTheRemedy) {
  const auto make = [](std::vector<std::size_t> sizes, std::vector<std::uint64_t> rows, std::uint64_t max_bytes,
                       BagRule rule) {
    MultiHot made(std::make_unique<Adult>(123, std::string()), {std::move(sizes), std::move(rows), rule, max_bytes});
  };
  const std::vector<std::size_t> twos(adult_tables, 2);
  const std::vector<std::uint64_t> forty_million(adult_tables, 40000000);
  std::vector<std::size_t> zero = twos;
  zero[2] = 0;
  EXPECT_TRUE(contains(error_of([&] { make({2, 2}, {}, 1U << 20U, BagRule::numpy); }), "2 tables"));
  EXPECT_TRUE(contains(error_of([&] { make(twos, {3, 3}, 1U << 20U, BagRule::numpy); }), "2 tables"));
  EXPECT_TRUE(contains(error_of([&] { make(zero, {}, 1, BagRule::numpy); }), "table 2"));
  const std::string large = error_of([&] { make(twos, forty_million, 1U << 30U, BagRule::numpy); });
  EXPECT_TRUE(contains(large, "2.72 GB") && contains(large, "--multi-hot-rule=counter")) << large;
  EXPECT_NO_THROW(make(twos, forty_million, 1U << 30U, BagRule::counter));
  RandomDataOptions random;
  random.table_rows = {100};
  MultiHot bagged(std::make_unique<RandomData>(random), {{2}, {}, BagRule::numpy, 1U << 20U});
  const std::array<std::size_t, 1> table{0};
  Batch batch;
  EXPECT_TRUE(contains(error_of([&] { bagged.read(Split::train, 1, 0, {{}, table}, batch); }), "one index a sample"));
  EXPECT_TRUE(contains(error_of([] { (void)bag_rule("pareto"); }), "pareto"));
}

/// The head of Criteo's Kaggle data with MLPerf's sizes.
TEST(MultiHot, CriteoRows) {
  const auto file = shared_folder() / "data" / "criteo" / "train.txt";
  if (!std::filesystem::exists(file)) {
    GTEST_SKIP() << "no " << file;
  }
  const TemporaryFolder folder;
  CriteoTextOptions text;
  text.file = file;
  text.cache_dir = folder.path();
  text.shuffle = Shuffle::none;
  CriteoText single(text);
  MultiHotOptions options;
  options.sizes = {3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1};
  MultiHot several(std::make_unique<CriteoText>(text), options);
  const std::array<std::size_t, 2> tables{12, 20};
  Batch a;
  Batch b;
  single.read(Split::train, 128, 3, {{}, tables}, a);
  several.read(Split::train, 128, 3, {{}, tables}, b);
  EXPECT_EQ(b.tables[0].indices, a.tables[0].indices);
  for (std::size_t i = 0; i < 128; ++i) {
    EXPECT_EQ(b.tables[1].indices[100 * i], a.tables[1].indices[i]);
    for (std::size_t j = 0; j < 100; ++j) {
      EXPECT_LT(b.tables[1].indices[100 * i + j], static_cast<std::int64_t>(several.table_rows()[20]));
    }
  }
}

}  // namespace
