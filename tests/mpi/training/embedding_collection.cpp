// SPDX-License-Identifier: BSD-3-Clause
// Every sharding, pooling, optimizer, layout and type of rows against the reference.
#include "embedding_exercise.hpp"

namespace {

using namespace tutti;
using namespace tutti::test;
using kernels::Pooling;
using kernels::RowOptimizer;

constexpr Sharding shardings[] = {Sharding::automatic, Sharding::data_parallel, Sharding::table_wise,
                                  Sharding::row_wise,  Sharding::column_wise,   Sharding::row_wise_on_node};
constexpr Pooling poolings[] = {Pooling::sum, Pooling::mean, Pooling::max};
constexpr RowOptimizer optimizers[] = {RowOptimizer::sgd, RowOptimizer::adagrad, RowOptimizer::row_wise_adagrad,
                                       RowOptimizer::adam};
constexpr InputLayout layouts[] = {InputLayout::global, InputLayout::local};

bool divides_bags(Sharding sharding) {
  return sharding == Sharding::row_wise || sharding == Sharding::row_wise_on_node;
}

/// Many ranks on few cores take long: there each pooling has one of the layouts, and a sharding has every second
/// pooling, the other ones for even and odd `turn`.
bool is_left_out(Sharding sharding, Pooling pooling, InputLayout layout, int turn) {
  return world().size() > 2 && ((static_cast<int>(pooling) + static_cast<int>(layout)) % 2 == 1 ||
                                (static_cast<int>(sharding) + static_cast<int>(pooling) + turn) % 2 == 1);
}

template <typename Body>
void for_each_way(int turn, const Body& body) {
  for (const Sharding sharding : shardings)
    for (const Pooling pooling : poolings) {
      if (pooling == Pooling::max && divides_bags(sharding)) continue;
      for (const InputLayout layout : layouts) {
        if (is_left_out(sharding, pooling, layout, turn)) continue;
        const std::string where = std::string(sharding_name(sharding)) + ", pooling " +
                                  std::to_string(static_cast<int>(pooling)) + ", layout " +
                                  std::to_string(static_cast<int>(layout));
        body(sharding, pooling, layout, where);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
}

class Optimizers : public ::testing::TestWithParam<RowOptimizer> {};

TEST_P(Optimizers, AgreeWithTheReference) {
  for_each_way(static_cast<int>(GetParam()),
               [](Sharding sharding, Pooling pooling, InputLayout layout, const std::string& where) {
                 Setting setting;
                 setting.tables = four_tables(sharding, pooling);
                 setting.optimizer = GetParam();
                 setting.layout = layout;
                 Exercise(world(), setting).run(where);
               });
}

INSTANTIATE_TEST_SUITE_P(All, Optimizers, ::testing::ValuesIn(optimizers));

TEST(EmbeddingCollection, FactorsAnIndex) {
  for_each_way(0, [](Sharding sharding, Pooling pooling, InputLayout layout, const std::string& where) {
    if (pooling == Pooling::max) return;
    Setting setting;
    setting.tables = four_tables(sharding, pooling);
    setting.layout = layout;
    setting.weighted = true;
    setting.optimizer = RowOptimizer::row_wise_adagrad;
    Exercise(world(), setting).run(where);
  });
}

TEST(EmbeddingCollection, ShortIndices) {
  for_each_way(1, [](Sharding sharding, Pooling pooling, InputLayout layout, const std::string& where) {
    Setting setting;
    setting.tables = four_tables(sharding, pooling);
    setting.layout = layout;
    setting.index_type = kernels::IndexType::int32;
    Exercise(world(), setting).run(where);
  });
}

TEST(EmbeddingCollection, RowsOf16And8Bits) {
  int turn = 0;
  for (const auto& [type, tolerance] : {std::pair(DatatypeKind::bfloat16, 4e-2), std::pair(DatatypeKind::float16, 6e-3),
                                        std::pair(DatatypeKind::uint8, 8e-2)}) {
    for_each_way(turn++, [&](Sharding sharding, Pooling pooling, InputLayout layout, const std::string& where) {
      // Where rounding decides which value is the greatest, the gradient may go elsewhere.
      if (pooling == Pooling::max) return;
      Setting setting;
      setting.tables = four_tables(sharding, pooling, type);
      setting.layout = layout;
      setting.tolerance = tolerance;
      Exercise(world(), setting).run(where + ", " + datatype_name(type));
    });
  }
}

TEST(EmbeddingCollection, EachTableItsOwnWay) {
  for (const RowOptimizer optimizer : optimizers)
    for (const InputLayout layout : layouts) {
      Setting setting;
      std::size_t k = 0;
      for (const Sharding sharding : shardings) {
        setting.tables.push_back(
            in_order({"table " + std::to_string(k), static_cast<std::int64_t>(20 + 7 * k), 4 + 3 * k,
                      DatatypeKind::float32, k % 2 == 0 ? Pooling::sum : Pooling::mean, 2, sharding}));
        ++k;
      }
      setting.tables.push_back({"largest", 20, 6, DatatypeKind::float32, Pooling::max, 2, Sharding::column_wise});
      setting.optimizer = optimizer;
      setting.layout = layout;
      Exercise exercise(world(), setting);
      exercise.run("mixed");
      exercise.collection.start_forward(0, exercise.input(5));
      exercise.expect_load(0, "mixed");
      exercise.expect_vectors(exercise.collection.finish_forward(0), 5, "mixed");
    }
}

TEST(EmbeddingCollection, ByHandRowsAndColumns) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  Setting setting;
  setting.tables = {{"grid", 30, 10, DatatypeKind::float32, Pooling::mean, 2, Sharding::table_wise}};
  setting.optimizer = RowOptimizer::row_wise_adagrad;
  ShardingPlan plan;
  plan.ranks = world().size();
  plan.names = {"grid"};
  plan.shardings = {Sharding::row_wise};
  const std::vector<TableShard> in_blocks{
      {0, 0, 0, 11, 0, 4}, {0, 0, 11, 30, 4, 10}, {0, 1, 0, 11, 4, 10}, {0, 1, 11, 30, 0, 4}};
  const std::vector<TableShard> in_steps{
      {0, 0, 0, 30, 0, 4, 2}, {0, 0, 1, 30, 4, 10, 2}, {0, 1, 0, 30, 4, 10, 2}, {0, 1, 1, 30, 0, 4, 2}};
  for (const auto& shards : {in_blocks, in_steps})
    for (const InputLayout layout : layouts) {
      plan.shards = shards;
      setting.layout = layout;
      Exercise(world(), setting, plan).run("grid");
    }
}

TEST(EmbeddingCollection, OneTable) {
  for_each_way(0, [](Sharding sharding, Pooling pooling, InputLayout layout, const std::string& where) {
    Setting setting;
    setting.tables = {in_order({"only", 101, 16, DatatypeKind::float32, pooling, 2, sharding})};
    setting.optimizer = RowOptimizer::adagrad;
    setting.layout = layout;
    Exercise(world(), setting).run(where);
  });
}

}  // namespace
