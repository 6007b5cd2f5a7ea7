// SPDX-License-Identifier: BSD-3-Clause
// Vectors and gradients that travel in 16 bits: rounded once by their sender, added in float32.
#include "embedding_one_table.hpp"

namespace {

using namespace tutti;
using namespace tutti::test;
using kernels::Pooling;
using kernels::RowOptimizer;

constexpr DatatypeKind narrow_types[] = {DatatypeKind::bfloat16, DatatypeKind::float16};

float rounded(float value, DatatypeKind type) {
  if (world().size() == 1 || type == DatatypeKind::float32) return value;
  return type == DatatypeKind::bfloat16 ? static_cast<float>(bfloat16_t(value)) : static_cast<float>(float16_t(value));
}

/// Of no type of 16 bits.
float value_of(std::int64_t i) { return 1.0F + static_cast<float>(i) / 3000; }

EmbeddingCollectionOptions exchanged_in(DatatypeKind type) {
  EmbeddingCollectionOptions options;
  options.exchange_type = type;
  return options;
}

/// The vector of a bag with all rows.
float pooled(const OneTable& one, DatatypeKind type) {
  const ShardingPlan& plan = one.collection.plan();
  const auto part = [](const TableRows& rows) {
    float sum = 0;
    for (std::int64_t row = rows.begin; row < rows.end; row += rows.step) sum += value_of(row);
    return sum;
  };
  if (plan.shardings[0] == Sharding::data_parallel) return part({0, 6});
  float sum = 0;
  for (const TableShard& shard : plan.shards)
    if (shard.column_begin == 0) sum += rounded(part(shard.table_rows()), type);
  return sum;
}

TEST(EmbeddingExchange, AVectorIsTheSumOfPartsThatAreRoundedOnce) {
  for (const Sharding sharding : shardings)
    for (const DatatypeKind type : narrow_types) {
      OneTable one(table(sharding), exchanged_in(type));
      one.fill([](std::int64_t row, std::size_t) { return value_of(row); });
      const Samples samples(9, {0, 1, 2, 3, 4, 5});
      const float expected = pooled(one, type);
      for (const float found : one.step(
               samples, [](std::size_t) { return 0.0F; }, 1.0F))
        EXPECT_EQ(found, expected) << sharding_name(sharding);
      const float exact = pooled(one, DatatypeKind::float32);
      EXPECT_EQ(expected == exact, world().size() == 1 || sharding == Sharding::data_parallel);
      EXPECT_NEAR(expected, exact, exact / 256);
    }
}

TEST(EmbeddingExchange, GradientsOfAllSamplesAreRoundedOnceAndReplicasStayEqual) {
  const auto gradient = [](std::size_t sample) { return value_of(static_cast<std::int64_t>(sample)); };
  for (const Sharding sharding : shardings)
    for (const DatatypeKind type : {DatatypeKind::float32, DatatypeKind::bfloat16, DatatypeKind::float16}) {
      OneTable one(table(sharding), exchanged_in(type));
      Samples samples;
      for (std::int64_t s = 0; s < 12; ++s) samples.push_back({s % 6});
      one.step(samples, gradient, 1.0F);
      const auto rows = one.rows();
      for (std::size_t row = 0; row < 6; ++row)
        EXPECT_EQ(rows[8 * row + 7], -(rounded(gradient(row), type) + rounded(gradient(row + 6), type)))
            << sharding_name(sharding) << ", row " << row;
    }
}

TEST(EmbeddingExchange, EveryShardingPoolingAndOptimizerTrainsToWithinTheRounding) {
  for (const Sharding sharding :
       {Sharding::data_parallel, Sharding::table_wise, Sharding::row_wise, Sharding::column_wise, Sharding::automatic})
    for (const Pooling pooling : {Pooling::sum, Pooling::mean})
      for (const auto& [type, tolerance] :
           {std::pair(DatatypeKind::bfloat16, 4e-2), std::pair(DatatypeKind::float16, 6e-3)}) {
        Setting made;
        made.tables = four_tables(sharding, pooling);
        made.optimizer = pooling == Pooling::sum ? RowOptimizer::sgd : RowOptimizer::row_wise_adagrad;
        made.layout = pooling == Pooling::sum ? InputLayout::local : InputLayout::global;
        made.exchange_type = type;
        made.tolerance = tolerance;
        Exercise(world(), made).run(std::string(sharding_name(sharding)) + " in " + datatype_name(type));
        if (HasFatalFailure()) return;
      }
}

std::string refusal(DatatypeKind type, ErrorCode code) {
  try {
    const OneTable one(table(Sharding::row_wise), exchanged_in(type));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  ADD_FAILURE() << "not refused";
  return {};
}

TEST(EmbeddingExchange, OtherTypesAreRefused) {
  for (const DatatypeKind type : {DatatypeKind::uint8, DatatypeKind::float64}) {
    EXPECT_EQ(refusal(type, ErrorCode::invalid_argument), std::string("EmbeddingCollection: option exchange_type is ") +
                                                              datatype_name(type) +
                                                              "; pass float32, bfloat16 or float16");
  }
  const std::vector<EmbeddingTableConfig> tables{table(Sharding::row_wise)};
  EXPECT_THROW((void)plan_sharding(world(), tables, {.exchange_type = DatatypeKind::int16}), Error);
}

TEST(EmbeddingExchange, RanksThatDifferAreToldSo) {
  if (world().size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const DatatypeKind mine = world().rank() == 0 ? DatatypeKind::bfloat16 : DatatypeKind::float32;
  EXPECT_NE(refusal(mine, ErrorCode::mismatch).find("options"), std::string::npos);
}

}  // namespace
