// SPDX-License-Identifier: BSD-3-Clause
// Each option of a collection has its effect; what is looked up where indices are out of range; memory.
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "embedding_one_table.hpp"

namespace {

using namespace tutti;
using namespace tutti::test;
using kernels::IndexPolicy;
using kernels::Pooling;
using kernels::RowOptimizer;

/// The value of row 2 after steps with these gradients, from 0.
float trained(const EmbeddingCollectionOptions& options, std::initializer_list<float> gradients) {
  OneTable one(table(Sharding::row_wise), options);
  for (const float g : gradients)
    one.step(
        {{2}}, [g](std::size_t) { return g; }, 0.5F);
  return one.rows()[2 * 8 + 5];
}

TEST(EmbeddingOptions, BetasAndEpsilonOfAdam) {
  EmbeddingCollectionOptions options;
  options.optimizer = RowOptimizer::adam;
  options.beta1 = 0.5;
  options.beta2 = 0.75;
  options.epsilon = 0.125F;
  for (const bool hat : {false, true}) {
    options.epsilon_hat = hat;
    double m = 0, v = 0, w = 0;
    int step = 0;
    for (const double g : {0.5, -0.25, 0.125}) {
      ++step;
      m = 0.5 * m + 0.5 * g;
      v = 0.75 * v + 0.25 * g * g;
      const double root = std::sqrt(1 - std::pow(0.75, step));
      const double denominator = hat ? (std::sqrt(v) + 0.125) / root : std::sqrt(v) / root + 0.125;
      w -= 0.5 * m / (1 - std::pow(0.5, step)) / denominator;
    }
    EXPECT_NEAR(static_cast<double>(trained(options, {0.5F, -0.25F, 0.125F})), w, 1e-6) << "epsilon_hat " << hat;
  }
}

TEST(EmbeddingOptions, EpsilonOfAdagrad) {
  EmbeddingCollectionOptions options;
  options.epsilon = 0.5F;
  for (const RowOptimizer optimizer : {RowOptimizer::adagrad, RowOptimizer::row_wise_adagrad}) {
    options.optimizer = optimizer;
    EXPECT_FLOAT_EQ(trained(options, {2.0F}), -0.5F * 2 / (2 + 0.5F));
  }
}

TEST(EmbeddingOptions, SeedOfTheFirstRows) {
  const auto drawn = [](std::uint64_t seed) {
    EmbeddingCollectionOptions options;
    options.seed = seed;
    OneTable one(table(Sharding::row_wise, 50), options);
    one.collection.initialize();
    return one.rows();
  };
  EXPECT_EQ(drawn(7), drawn(7));
  EXPECT_NE(drawn(7), drawn(8));
}

TEST(EmbeddingOptions, RoundingAndItsSeed) {
  // A quarter of the step between two values of a bfloat16 below 1.
  const auto rounded = [](kernels::Rounding rounding, std::uint64_t seed) {
    EmbeddingCollectionOptions options;
    options.rounding = rounding;
    options.seed = seed;
    OneTable one(table(Sharding::row_wise, 2, 1024, DatatypeKind::bfloat16), options);
    one.fill([](std::int64_t, std::size_t) { return 1.0F; });
    one.step(
        {{1}}, [](std::size_t) { return 0x1p-10F; }, 1.0F);
    return one.rows();
  };
  EXPECT_EQ(rounded(kernels::Rounding::nearest, 7), std::vector<float>(2048, 1.0F));
  const auto random = rounded(kernels::Rounding::stochastic, 7);
  const auto moved = std::count_if(random.begin() + 1024, random.end(), [](float x) { return x != 1.0F; });
  EXPECT_NEAR(static_cast<double>(moved), 256, 80);  // six standard deviations
  EXPECT_EQ(random, rounded(kernels::Rounding::stochastic, 7));
  EXPECT_NE(random, rounded(kernels::Rounding::stochastic, 8));
}

/// Vectors of one row and stochastic updates are the same bits, whichever rank has a row at whichever place.
TEST(EmbeddingOptions, ResultsDoNotDependOnTheOrderOfRows) {
  const auto trained_in = [](RowOrder order) {
    EmbeddingTableConfig config = table(Sharding::row_wise, 11, 24, DatatypeKind::bfloat16);
    config.row_order = order;
    EmbeddingCollectionOptions options;
    options.rounding = kernels::Rounding::stochastic;
    options.optimizer = RowOptimizer::row_wise_adagrad;
    OneTable one(config, options);
    EXPECT_EQ(one.collection.shards().empty() ? 1 : one.collection.shards()[0].row_step,
              order == RowOrder::cyclic ? world().size() : 1);
    one.collection.initialize();
    const Samples samples{{3}, {10}, {3}, {0}, {7}, {}, {8}, {9}};
    std::vector<float> vectors;
    for (int k = 0; k < 3; ++k) {
      const auto first = one.step(
          samples, [](std::size_t s) { return 0.3F * static_cast<float>(s) - 1; }, 0.01F);
      vectors.insert(vectors.end(), first.begin(), first.end());
    }
    return std::pair(vectors, one.rows());
  };
  const auto in_blocks = trained_in(RowOrder::blocks);
  const auto cyclic = trained_in(RowOrder::cyclic);
  EXPECT_EQ(in_blocks.first, cyclic.first);
  EXPECT_EQ(in_blocks.second, cyclic.second);
}

/// Sample s looks up row s % 6, one below the table and one above it.
Samples with_strangers(std::size_t batch) {
  Samples samples;
  for (std::size_t s = 0; s < batch; ++s) samples.push_back({static_cast<std::int64_t>(s % 6), -3, 6 + 5});
  return samples;
}

TEST(EmbeddingOptions, PolicyForIndicesOutOfRange) {
  constexpr std::size_t batch = 13;
  for (const Sharding sharding : shardings)
    for (const Pooling pooling : {Pooling::sum, Pooling::mean})
      for (const InputLayout layout : {InputLayout::global, InputLayout::local})
        for (const IndexPolicy policy : {IndexPolicy::clamp, IndexPolicy::ignore}) {
          const bool clamps = policy == IndexPolicy::clamp;
          SCOPED_TRACE(std::string(sharding_name(sharding)) + (clamps ? ", clamp" : ", ignore") +
                       (pooling == Pooling::mean ? ", mean" : ", sum") +
                       (layout == InputLayout::local ? ", local" : ", global"));
          EmbeddingCollectionOptions options;
          options.policy = policy;
          OneTable one(table(sharding, 6, 8, DatatypeKind::float32, pooling), options);
          one.fill([](std::int64_t row, std::size_t) { return static_cast<float>(3 << row); });
          const auto first = one.step(
              with_strangers(batch), [](std::size_t s) { return static_cast<float>(3 * (s + 1)); }, 1.0F, layout);
          const float parts = pooling == Pooling::mean && clamps ? 3 : 1;
          std::vector<float> after(6);
          for (std::size_t row = 0; row < 6; ++row) after[row] = static_cast<float>(3 << row);
          const std::size_t begin = sample_slice(batch, world().rank(), world().size()).begin;
          for (std::size_t s = 0; s < batch; ++s) {
            const float own = static_cast<float>(3 << s % 6);
            if (s >= begin && s - begin < first.size()) {
              EXPECT_EQ(first[s - begin], clamps ? (own + 3 + (3 << 5)) / parts : own) << "sample " << s;
            }
            const float g = static_cast<float>(3 * (s + 1)) / parts;
            after[s % 6] -= g;
            if (!clamps) continue;
            after[0] -= g;
            after[5] -= g;
          }
          const auto rows = one.rows();
          for (std::size_t row = 0; row < 6; ++row) EXPECT_EQ(rows[row * 8 + 7], after[row]) << "row " << row;
        }
}

TEST(EmbeddingOptions, OffsetsThatDescendAreRefused) {
  const auto part = static_cast<std::size_t>(world().size());
  for (const InputLayout layout : {InputLayout::global, InputLayout::local}) {
    OneTable one(table(Sharding::row_wise), {});
    const std::size_t bags = layout == InputLayout::local ? 3 : 3 * part;
    const std::vector<std::int64_t> indices(bags + 2, 1);
    std::vector<std::int64_t> offsets(bags + 1, static_cast<std::int64_t>(bags));
    offsets[0] = 0;
    offsets[1] = static_cast<std::int64_t>(bags) + 1;
    const kernels::TableLookups lookups{indices.data(), offsets.data(), nullptr};
    try {
      one.collection.start_forward(0, {{&lookups, 1}, kernels::IndexType::int64, 3 * part, layout, {}});
      ADD_FAILURE() << "no error";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string(e.what()).find("offsets descend at entry 2"), std::string::npos) << e.what();
    }
  }
}

TEST(EmbeddingOptions, AnErrorNamesTheSampleOfTheWholeBatch) {
  constexpr std::size_t batch = 9;
  for (const InputLayout layout : {InputLayout::global, InputLayout::local}) {
    OneTable one(table(Sharding::row_wise), {});
    Samples samples(batch, {1});
    samples[batch - 1] = {0, 5, 6};
    try {
      one.step(
          samples, [](std::size_t) { return 0.0F; }, 1.0F, layout);
      ADD_FAILURE() << "no error";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::index_out_of_range);
      EXPECT_NE(std::string(e.what()).find("table 0, sample 8, position 2 in its bag: row 6 is not in [0, 6)"),
                std::string::npos)
          << e.what();
    }
  }
}

TEST(EmbeddingOptions, RowsOutsideTheShardAreNotRead) {
  const OneTable one(table(Sharding::row_wise), {});
  const TableShard shard = one.collection.shards()[0];
  std::vector<float> out(static_cast<std::size_t>(shard.rows() + 1) * shard.columns());
  const auto refusal = [&](std::size_t i, std::int64_t begin, std::int64_t end) -> std::string {
    try {
      one.collection.read_rows(i, begin, end, out);
    } catch (const Error& e) {
      return e.what();
    }
    return {};
  };
  const std::string reason = "EmbeddingCollection::read_rows: ";
  EXPECT_TRUE(refusal(0, shard.row_begin, shard.row_end + 1).starts_with(reason));
  EXPECT_TRUE(refusal(0, shard.row_begin - 1, shard.row_end).starts_with(reason));
  EXPECT_TRUE(refusal(0, shard.row_begin, shard.row_end).starts_with(reason)) << "room for another row";
  EXPECT_TRUE(refusal(1, shard.row_begin, shard.row_end).starts_with(reason)) << "another shard";
}

std::vector<EmbeddingTableConfig> many_small() {
  std::vector<EmbeddingTableConfig> tables;
  for (int t = 0; t < 300; ++t)
    tables.push_back({std::to_string(t), 100, 32, DatatypeKind::float32, Pooling::sum, 1, Sharding::table_wise});
  return tables;
}

/// Bytes of address space of this process.
std::size_t address_space() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(EmbeddingMemory, ManySmallTablesTakeWhatThePlanPredicts) {
  const auto tables = many_small();
  PlannerOptions planner{.batch = 8, .optimizer = RowOptimizer::adagrad};
  const auto plan = plan_sharding(world(), tables, planner);
  const auto ranks = static_cast<std::size_t>(world().size());
  std::size_t predicted = 0;
  for (const RankLoad& load : plan.prediction) predicted = std::max(predicted, load.bytes);
  EXPECT_LE(predicted, (300 + ranks - 1) / ranks * 2 * 100 * 32 * 4 * 11 / 10);
  const std::size_t before = address_space();
  EmbeddingCollectionOptions options;
  options.optimizer = RowOptimizer::adagrad;
  options.max_batch = 8;
  EmbeddingCollection collection(world(), tables, plan, options);
  const std::size_t taken = address_space() - before;
  EXPECT_EQ(collection.bytes(), plan.prediction[static_cast<std::size_t>(world().rank())].bytes);
  // With the buffers of a slot, alignment, and what malloc keeps; arrays in pages of 2 MiB took 1.28 GB on one rank.
  EXPECT_LE(taken, predicted + (std::size_t{24} << 20U));
  // The limit is what is taken, to the byte.
  planner.memory_limit = predicted;
  EXPECT_NO_THROW((void)plan_sharding(world(), tables, planner));
  planner.memory_limit = 300 / ranks * 2 * 100 * 32 * 4 - 1;
  EXPECT_THROW((void)plan_sharding(world(), tables, planner), Error);
}

TEST(EmbeddingMemory, ArraysOfAllTypesDoNotMeet) {
  for (const RowOptimizer optimizer : {RowOptimizer::sgd, RowOptimizer::row_wise_adagrad, RowOptimizer::adam}) {
    std::vector<EmbeddingTableConfig> tables;
    for (const auto type : {DatatypeKind::uint8, DatatypeKind::float32, DatatypeKind::bfloat16, DatatypeKind::float16,
                            DatatypeKind::uint8})
      tables.push_back({std::to_string(tables.size()), 7, 5, type, Pooling::sum, 1, Sharding::data_parallel});
    EmbeddingCollectionOptions options;
    options.optimizer = optimizer;
    const auto plan = plan_sharding(world(), tables, {.optimizer = optimizer});
    EmbeddingCollection collection(world(), tables, plan, options);
    const auto value = [](std::size_t t, std::int64_t row) {
      return static_cast<float>(10 * t) + static_cast<float>(row);
    };
    for (std::size_t t = 0; t < tables.size(); ++t)
      collection.fill(t, [&](std::int64_t begin, std::int64_t end, std::span<float> values) {
        for (std::int64_t row = begin; row < end; ++row)
          std::fill_n(values.begin() + (row - begin) * 5, 5, value(t, row));
      });
    std::vector<float> read(35);
    for (std::size_t t = 0; t < tables.size(); ++t) {
      collection.read_rows(t, 0, 7, read);
      for (std::int64_t row = 0; row < 7; ++row)
        for (std::size_t c = 0; c < 5; ++c) EXPECT_EQ(read[static_cast<std::size_t>(row) * 5 + c], value(t, row)) << t;
    }
    EXPECT_EQ(collection.bytes(), plan.prediction[static_cast<std::size_t>(world().rank())].bytes);
  }
}

}  // namespace
