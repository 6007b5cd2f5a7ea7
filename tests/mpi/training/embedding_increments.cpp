// SPDX-License-Identifier: BSD-3-Clause
// Saves of the rows that have changed since the save before.
#include <map>
#include <set>

#include "embedding_saves.hpp"

namespace {

using namespace tutti;
using namespace tutti::test;
using kernels::Pooling;
using kernels::RowOptimizer;

constexpr auto incremental = SaveKind::incremental;

/// Tables of which a batch has few rows.
std::vector<EmbeddingTableConfig> large_tables(Sharding sharding, DatatypeKind type = DatatypeKind::float32) {
  return {in_order({"large", 3000, 8, type, Pooling::sum, 2, sharding}),
          in_order({"large of increment 1", 1500, 5, type, Pooling::sum, 2, sharding})};
}

Setting large_setting(RowOptimizer optimizer, Sharding sharding, DatatypeKind type = DatatypeKind::float32) {
  Setting setting;
  setting.optimizer = optimizer;
  setting.tables = large_tables(sharding, type);
  return setting;
}

/// A chain of increments gives what a full save of the same moment gives.
void expect_whole(const Exercise& training, const Setting& setting, const std::filesystem::path& folder) {
  save(training.collection, folder / "whole");
  EXPECT_TRUE(loaded_rows(setting, folder / "chain") == loaded_rows(setting, folder / "whole"));
}

class Increments : public ::testing::TestWithParam<RowOptimizer> {};

TEST_P(Increments, GoOnUnderAnyPlan) {
  const CommonFolder folder;
  for (const Sharding from : shardings)
    for (const Sharding to : {Sharding::table_wise, Sharding::column_wise, Sharding::row_wise_on_node}) {
      const auto chain = folder / ("chain" + std::to_string(static_cast<int>(from) * 10 + static_cast<int>(to)));
      const Setting setting = large_setting(GetParam(), from);
      Exercise before(world(), setting);
      before.step(1, "before");
      save(before.collection, chain, incremental);
      EXPECT_EQ(generations(chain), 1U);
      for (std::uint64_t k = 2; k <= 4; ++k) {
        before.step(k, "before");
        if (k == 3) continue;
        save(before.collection, chain, incremental);
        EXPECT_EQ(generations(chain), k == 2 ? 2U : 3U);
      }
      CheckpointReader(chain).verify();
      Exercise after(world(), large_setting(GetParam(), to));
      after.collection.load(CheckpointReader(chain));
      after.reference = before.reference;
      EXPECT_EQ(after.collection.steps(), 4U);
      for (std::uint64_t k = 5; k <= 6; ++k) after.step(k, "after");
      after.expect_rows("after");
    }
}

TEST_P(Increments, GoOnOnFewerRanks) {
  const CommonFolder folder;
  const auto chain = folder / "chain";
  Exercise before(world(), large_setting(GetParam(), Sharding::row_wise));
  for (std::uint64_t k = 1; k <= 3; ++k) {
    before.step(k, "before");
    save(before.collection, chain, incremental);
  }
  EXPECT_EQ(generations(chain), 3U);
  const Communicator part = world().split(world().rank() % 2);
  Exercise after(part, large_setting(GetParam(), Sharding::column_wise));
  after.collection.load(CheckpointReader(chain));
  after.reference = before.reference;
  for (std::uint64_t k = 4; k <= 6; ++k) after.step(k, "after");
  after.expect_rows("after");
}

TEST_P(Increments, OfAllTypesGiveTheBitsOfAFullSave) {
  constexpr DatatypeKind types[] = {DatatypeKind::uint8, DatatypeKind::float32, DatatypeKind::bfloat16,
                                    DatatypeKind::float16};
  for (const Sharding sharding : shardings) {
    const CommonFolder folder;
    const Setting setting = large_setting(GetParam(), sharding, types[static_cast<std::size_t>(GetParam()) % 4]);
    Exercise training(world(), setting);
    for (std::uint64_t k = 1; k <= 4; ++k) {
      train(training, k);
      save(training.collection, folder / "chain", incremental);
    }
    EXPECT_EQ(generations(folder / "chain"), 4U);
    expect_whole(training, setting, folder.path());
  }
}

/// The sum of the rows in the lists of an increment, over all ranks.
std::size_t listed_rows(const std::filesystem::path& folder, const std::string& table, std::size_t increment) {
  const CheckpointReader reader(folder);
  std::size_t bytes = 0;
  for (const std::string& name : reader.names()) {
    const bool is_list = name.starts_with("embedding " + table + " changed rows ") &&
                         name.ends_with(" of increment " + std::to_string(increment));
    bytes += is_list ? reader.bytes(name) : 0;
  }
  return bytes / sizeof(std::uint32_t);
}

TEST_P(Increments, HaveTheChangedRowsOnly) {
  const CommonFolder folder;
  for (const Sharding sharding : {Sharding::data_parallel, Sharding::table_wise, Sharding::row_wise}) {
    const auto chain = folder / ("chain" + std::to_string(static_cast<int>(sharding)));
    const Setting setting = large_setting(GetParam(), sharding);
    Exercise training(world(), setting);
    train(training, 1);
    save(training.collection, chain, incremental);
    for (const std::uint64_t k : {2U, 3U}) {
      train(training, k);
      train(training, k + 4);
      save(training.collection, chain, incremental);
      for (std::size_t t = 0; t < setting.tables.size(); ++t) {
        std::set<std::int64_t> rows;
        for (const std::uint64_t step : {k, k + 4}) {
          const Bags bags = make_bags(setting.tables[t], t, setting.batches[(step - 1) % 4], step, false);
          rows.insert(bags.indices.begin(), bags.indices.end());
        }
        EXPECT_EQ(listed_rows(chain, setting.tables[t].name, k), rows.size());
      }
      barrier(world());
    }
  }
}

TEST_P(Increments, ASaveBesideTrainingHasTheBytesOfItsStep) {
  const CommonFolder folder;
  for (const Sharding sharding : shardings) {
    const std::string at = std::to_string(static_cast<int>(sharding));
    const Setting setting = large_setting(GetParam(), sharding);
    Exercise alone(world(), setting);
    Exercise beside(world(), setting);
    for (Exercise* each : {&alone, &beside}) {
      train(*each, 1);
      save(each->collection, folder / ((each == &alone ? "alone" : "beside") + at), incremental);
      train(*each, 2);
      train(*each, 3);
    }
    const auto add = [&](Exercise& training, CheckpointPart& part, const Gate& gate) {
      gate.add_to(part);
      training.collection.add_to(part);
    };
    const Gate open;
    open.open();
    save_checkpoint(
        world(), folder / ("alone" + at), [&](CheckpointPart& part) { add(alone, part, open); }, incremental);
    const Gate gate;
    CheckpointSave save_beside(
        world(), folder / ("beside" + at), [&](CheckpointPart& part) { add(beside, part, gate); }, incremental);
    for (const std::uint64_t k : {2U, 3U, 4U}) {  // rows that are being saved, and others
      train(beside, k);
      train(alone, k);
      EXPECT_FALSE(save_beside.test());
    }
    gate.open();
    save_beside.wait();
    EXPECT_EQ(generations(folder / ("beside" + at)), 2U);
    expect_same_files(folder / ("alone" + at), folder / ("beside" + at), " of the increment");
    save(alone.collection, folder / ("alone" + at), incremental);
    save(beside.collection, folder / ("beside" + at), incremental);
    expect_same_files(folder / ("alone" + at), folder / ("beside" + at), " of what changed beside it");
  }
}

TEST(EmbeddingIncrements, ASaveThatFailsLosesNoRows) {
  const CommonFolder folder;
  const auto chain = folder / "chain";
  const Setting setting = large_setting(RowOptimizer::adagrad, Sharding::row_wise);
  Exercise training(world(), setting);
  save(training.collection, chain, incremental);
  train(training, 1);
  const auto failing = [&](CheckpointPart& part) {
    training.collection.add_to(part);
    part.add("more of " + std::to_string(world().rank()), 1, DatatypeKind::bytes,
             [&](std::uint64_t, std::span<std::byte> out) {
               out[0] = std::byte{1};
               if (world().rank() == 0) throw Error(ErrorCode::io, "no room");
             });
  };
  EXPECT_EQ(error_of([&] { save_checkpoint(world(), chain, failing, incremental); }), "rank 0: no room");
  train(training, 2);
  {
    const Gate gate;
    CheckpointSave given_up(
        world(), chain,
        [&](CheckpointPart& part) {
          gate.add_to(part);
          training.collection.add_to(part);
        },
        incremental);
    train(training, 3);
    gate.open();
  }
  barrier(world());
  EXPECT_EQ(generations(chain), 1U);
  save(training.collection, chain, incremental);
  EXPECT_EQ(generations(chain), 2U);
  expect_whole(training, setting, folder.path());
}

TEST(EmbeddingIncrements, ASaveIsFullWhereTheFolderHasSomethingElse) {
  const CommonFolder folder;
  const auto chain = folder / "chain";
  const Setting setting = large_setting(RowOptimizer::adagrad, Sharding::row_wise);
  Exercise training(world(), setting);
  const auto expect = [&](std::size_t count, const std::string& when) {
    train(training, 1);
    save(training.collection, chain, incremental);
    EXPECT_EQ(generations(chain), count) << when;
  };
  expect(1, "the first");
  expect(2, "the second");
  save(training.collection, folder / "other");
  expect(3, "a full save was elsewhere");
  save(training.collection, chain);
  expect(1, "a full save was there");
  expect(2, "after it");
  training.collection.initialize();
  expect(1, "the rows were filled");
  expect(2, "after it");
  training.collection.load(CheckpointReader(chain));
  barrier(world());
  expect(1, "the rows were loaded");
  expect(2, "after it");
  save(training.collection, folder / "other", incremental);
  EXPECT_EQ(generations(folder / "other"), 1U) << "the first to this folder";
  expect(1, "the last one was elsewhere");
  expect(2, "after it");
  Exercise another(world(), setting);
  save(another.collection, chain, incremental);
  EXPECT_EQ(generations(chain), 1U) << "the first of this collection";
  expect(1, "another collection was saved there");
  train(training, 2);
  save_checkpoint(
      world(), chain, [&](CheckpointPart& part) { training.collection.add_to(part, "model"); }, incremental);
  EXPECT_EQ(generations(chain), 1U) << "another prefix";
  expect(1, "another prefix");
  if (world().rank() == 0) std::filesystem::remove_all(chain);
  barrier(world());
  expect(1, "the folder is gone");
  expect_whole(training, setting, folder.path());
}

/// Two collections in one checkpoint, of which one knows nothing of it: both are saved in full.
TEST(EmbeddingIncrements, OneCollectionMakesASaveFull) {
  const CommonFolder folder;
  const auto chain = folder / "chain";
  const Setting setting = large_setting(RowOptimizer::sgd, Sharding::row_wise);
  Exercise training(world(), setting);
  auto second = std::make_unique<Exercise>(world(), setting);
  const auto save_both = [&] {
    save_checkpoint(
        world(), chain,
        [&](CheckpointPart& part) {
          training.collection.add_to(part);
          second->collection.add_to(part, "second");
        },
        incremental);
  };
  save_both();
  train(training, 1);
  train(*second, 2);
  save_both();
  EXPECT_EQ(generations(chain), 2U);
  // On one rank only: what one rank refuses is full on all.
  train(training, 3);
  if (world().rank() == world().size() - 1) second->collection.initialize();
  save_both();
  EXPECT_EQ(generations(chain), 1U);
  train(training, 4);
  save_both();
  EXPECT_EQ(generations(chain), 2U);
  expect_whole(training, setting, folder.path());
}

/// The files of the increments never have more bytes than the full save and one increment.
TEST(EmbeddingIncrements, TheFolderDoesNotGrowWithoutEnd) {
  const CommonFolder folder;
  const auto chain = folder / "chain";
  Setting setting;
  setting.tables = four_tables(Sharding::row_wise, Pooling::sum);
  Exercise training(world(), setting);
  std::size_t full_saves = 0;
  for (std::uint64_t k = 1; k <= 12; ++k) {
    train(training, k);
    save(training.collection, chain, incremental);
    const CheckpointReader reader(chain);
    std::uint64_t bytes = 0;
    for (std::size_t i = 1; i + 1 < reader.generations().size(); ++i) bytes += reader.generations()[i].bytes;
    EXPECT_LT(bytes, reader.generations()[0].bytes);
    std::size_t files = 1;
    for (const auto& generation : reader.generations()) files += generation.parts;
    const auto entries = std::filesystem::directory_iterator(chain);
    EXPECT_EQ(static_cast<std::size_t>(std::distance(begin(entries), end(entries))), files);
    full_saves += reader.generations().size() == 1 ? 1 : 0;
    barrier(world());
  }
  EXPECT_GT(full_saves, 1U);
  EXPECT_LT(full_saves, 12U);
  expect_whole(training, setting, folder.path());
}

INSTANTIATE_TEST_SUITE_P(All, Increments,
                         ::testing::Values(RowOptimizer::sgd, RowOptimizer::adagrad, RowOptimizer::row_wise_adagrad,
                                           RowOptimizer::adam));

}  // namespace
