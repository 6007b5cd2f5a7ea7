// SPDX-License-Identifier: BSD-3-Clause
// Several batches in flight, what is refused, rounding that does not depend on the plan, and other ways through a slot.
#include <functional>

#include "embedding_exercise.hpp"

namespace {

using namespace tutti;
using namespace tutti::test;
using kernels::Pooling;

ErrorCode code_of(const std::function<void()>& call, std::string* text = nullptr) {
  try {
    call();
  } catch (const Error& e) {
    if (text != nullptr) *text = e.what();
    return e.code();
  }
  return ErrorCode::success;
}

Setting mixed_setting(InputLayout layout) {
  Setting setting;
  setting.tables = four_tables(Sharding::row_wise, Pooling::mean);
  setting.tables[0].sharding = Sharding::table_wise;
  setting.tables[1].sharding = Sharding::data_parallel;
  setting.layout = layout;
  setting.slots = 2;
  setting.batches = {13, 8, 2, 13, 16, 5};
  return setting;
}

TEST(EmbeddingPipeline, TheNextInputTravelsDuringAStep) {
  for (const InputLayout layout : {InputLayout::global, InputLayout::local}) {
    const Setting setting = mixed_setting(layout);
    Exercise exercise(world(), setting);
    auto& collection = exercise.collection;
    const std::uint64_t steps = setting.batches.size();
    collection.start_input(1, exercise.input(1, 1));
    for (std::uint64_t k = 1; k <= steps; ++k) {
      const std::size_t slot = k % 2;
      collection.look_up(slot);
      collection.send_vectors(slot);
      if (k < steps) collection.start_input(1 - slot, exercise.input(k + 1, 1 - slot));
      for (int i = 0; i < 10; ++i) collection.progress();
      exercise.expect_vectors(collection.finish_forward(slot), k, "pipelined", slot);
      exercise.fill_gradients(k, slot);
      collection.start_backward(slot);
      collection.finish_backward(slot, static_cast<float>(rate));
      exercise.update_reference(k, slot);
    }
    exercise.expect_rows("pipelined");
  }
}

TEST(EmbeddingPipeline, ABadIndexIsToldToAllAndLosesNothing) {
  for (const InputLayout layout : {InputLayout::global, InputLayout::local}) {
    const Setting setting = mixed_setting(layout);
    Exercise exercise(world(), setting);
    exercise.step(1, "before");
    auto input = exercise.input(2);
    // The last rank's samples, or its copy of all, have a row too many in a table that all ranks need.
    Bags bad = make_bags(setting.tables[2], 2, 8, 2, false);
    if (world().rank() == world().size() - 1 && !bad.indices.empty()) bad.indices.back() = 40;
    std::vector<kernels::TableLookups> lookups(input.tables.begin(), input.tables.end());
    const std::size_t first = layout == InputLayout::local ? sample_slice(8, world().rank(), world().size()).begin : 0;
    lookups[2] = {bad.indices.data(), bad.offsets.data() + first, nullptr};
    input.tables = lookups;
    std::string text;
    EXPECT_EQ(code_of([&] { exercise.collection.start_forward(0, input); }, &text), ErrorCode::index_out_of_range);
    EXPECT_NE(text.find("table 2"), std::string::npos) << text;
    EXPECT_NE(text.find("40"), std::string::npos) << text;
    exercise.expect_rows("after the error");
    exercise.step(2, "the same step, good");
    exercise.expect_rows("after it");
  }
}

TEST(EmbeddingPipeline, TheCallersErrorIsToldToAll) {
  Exercise exercise(world(), mixed_setting(InputLayout::local));
  auto input = exercise.input(1);
  if (world().rank() == 0) input.error = "line 7 cannot be read";
  std::string text;
  EXPECT_EQ(code_of([&] { exercise.collection.start_forward(0, input); }, &text), ErrorCode::invalid_argument);
  EXPECT_EQ(text, "line 7 cannot be read");
  exercise.run("after it");
}

TEST(EmbeddingPipeline, BatchesThatDifferAreNamed) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  Exercise exercise(world(), mixed_setting(InputLayout::global));
  const auto input = exercise.input(world().rank() == 0 ? 1 : 5);
  std::string text;
  EXPECT_EQ(code_of([&] { exercise.collection.start_forward(0, input); }, &text), ErrorCode::mismatch);
  EXPECT_NE(text.find("13 to 16"), std::string::npos) << text;
  exercise.run("after it");
}

TEST(EmbeddingPipeline, CallsOutOfOrderAreRefused) {
  Exercise exercise(world(), mixed_setting(InputLayout::global));
  auto& collection = exercise.collection;
  EXPECT_EQ(code_of([&] { collection.look_up(0); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { collection.update(0, 1); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { (void)collection.finish_forward(2); }), ErrorCode::invalid_argument);
  const auto input = exercise.input(1);
  collection.start_input(0, input);
  EXPECT_EQ(code_of([&] { collection.start_input(0, input); }), ErrorCode::invalid_argument);
  collection.look_up(0);
  collection.send_vectors(0);
  (void)collection.finish_forward(0);
  exercise.run("a forward without backward lets the next input in");
}

TEST(EmbeddingPipeline, RanksThatDifferAreRefused) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  auto tables = four_tables(Sharding::table_wise, Pooling::sum);
  PlannerOptions planner;
  if (world().rank() == 1) planner.optimizer = kernels::RowOptimizer::adam;
  EXPECT_EQ(code_of([&] { (void)plan_sharding(world(), tables, planner); }), ErrorCode::mismatch);
  auto shared = tables;
  shared[0].lookup_shares = {1, world().rank() == 1 ? 3.0 : 2.0};
  EXPECT_EQ(code_of([&] { (void)plan_sharding(world(), shared, {}); }), ErrorCode::mismatch);
  if (world().rank() == 1) tables[0].rows = 51;
  EXPECT_EQ(code_of([&] { (void)plan_sharding(world(), tables, {}); }), ErrorCode::mismatch);
}

TEST(EmbeddingPipeline, IndicesOutsideAreClampedOrIgnored) {
  for (const Sharding sharding : {Sharding::table_wise, Sharding::row_wise, Sharding::data_parallel})
    for (const auto policy : {kernels::IndexPolicy::clamp, kernels::IndexPolicy::ignore})
      for (const InputLayout layout : {InputLayout::global, InputLayout::local}) {
        const std::vector<EmbeddingTableConfig> tables{
            {"only", 10, 2, DatatypeKind::float32, Pooling::mean, 2, sharding}};
        EmbeddingCollection collection(world(), tables, plan_sharding(world(), tables, {}),
                                       {.policy = policy, .max_batch = 8});
        collection.fill(0, [](std::int64_t begin, std::int64_t end, std::span<float> values) {
          for (std::int64_t row = begin; row < end; ++row)
            for (std::size_t c = 0; c < 2; ++c)
              values[static_cast<std::size_t>(row - begin) * 2 + c] = static_cast<float>(row);
        });
        // Each sample: rows -5, 3 and 12.
        std::vector<std::int64_t> indices;
        std::vector<std::int64_t> offsets{0};
        const SampleSlice mine = sample_slice(8, world().rank(), world().size());
        for (std::size_t s = 0; s < (layout == InputLayout::local ? mine.size() : 8); ++s) {
          indices.insert(indices.end(), {-5, 3, 12});
          offsets.push_back(static_cast<std::int64_t>(indices.size()));
        }
        const kernels::TableLookups lookups{indices.data(), offsets.data(), nullptr};
        collection.start_forward(0, {{&lookups, 1}, kernels::IndexType::int64, 8, layout, {}});
        const auto& vectors = collection.finish_forward(0);
        const float expected = policy == kernels::IndexPolicy::clamp ? (0.0F + 3.0F + 9.0F) / 3 : 3.0F;
        for (std::size_t s = 0; s < mine.size(); ++s)
          EXPECT_FLOAT_EQ(vectors[0].data[s * vectors[0].stride], expected) << sharding_name(sharding);
      }
}

/// All rows of all tables as every rank then has them.
std::vector<float> all_rows(const EmbeddingCollection& collection) {
  std::vector<float> all;
  for (std::size_t t = 0; t < collection.tables(); ++t) {
    const auto& table = collection.table(t);
    std::vector<float> whole(static_cast<std::size_t>(table.rows) * table.dim, 0);
    const auto shards = collection.shards();
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const TableShard& shard = shards[i];
      const bool replica = collection.plan().shardings[t] == Sharding::data_parallel;
      if (shard.table != t || (replica && world().rank() != 0)) continue;
      std::vector<float> rows(static_cast<std::size_t>(shard.rows()) * shard.columns());
      collection.read_rows(i, shard.row_begin, shard.row_end, rows);
      for (std::size_t k = 0; k < rows.size(); ++k) {
        const auto row =
            static_cast<std::size_t>(shard.table_rows().row(static_cast<std::int64_t>(k / shard.columns())));
        whole[row * table.dim + shard.column_begin + k % shard.columns()] = rows[k];
      }
    }
    allreduce(world(), whole, sum);
    all.insert(all.end(), whole.begin(), whole.end());
  }
  return all;
}

TEST(EmbeddingPipeline, StochasticRoundingAndFirstValuesDoNotDependOnThePlan) {
  std::vector<float> first;
  for (const Sharding sharding : {Sharding::table_wise, Sharding::column_wise, Sharding::row_wise,
                                  Sharding::row_wise_on_node, Sharding::data_parallel}) {
    auto tables = four_tables(sharding, Pooling::sum, DatatypeKind::bfloat16);
    EmbeddingCollection collection(world(), tables, plan_sharding(world(), tables, {}),
                                   {.rounding = kernels::Rounding::stochastic, .max_batch = 16, .seed = 5});
    collection.initialize();
    for (std::uint64_t step = 1; step <= 4; ++step) {
      std::vector<Bags> bags;
      std::vector<kernels::TableLookups> lookups;
      for (std::size_t t = 0; t < tables.size(); ++t) bags.push_back(make_bags(tables[t], t, 16, step, false));
      for (const auto& b : bags) lookups.push_back({b.indices.data(), b.offsets.data(), nullptr});
      collection.start_forward(0, {lookups, kernels::IndexType::int64, 16, InputLayout::global, {}});
      (void)collection.finish_forward(0);
      const SampleSlice mine = sample_slice(16, world().rank(), world().size());
      for (std::size_t t = 0; t < tables.size(); ++t)
        for (std::size_t s = 0; s < mine.size(); ++s)
          for (std::size_t c = 0; c < tables[t].dim; ++c) {
            const auto& view = collection.gradients(0)[t];
            view.data[s * view.stride + c] = gradient_value(t, mine.begin + s, c, step);
          }
      collection.start_backward(0);
      collection.finish_backward(0, 0.01F);
    }
    const auto rows = all_rows(collection);
    if (first.empty()) first = rows;
    EXPECT_EQ(rows, first) << sharding_name(sharding);
  }
}

}  // namespace
