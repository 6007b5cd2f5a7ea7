// SPDX-License-Identifier: BSD-3-Clause
// A collection saved under one plan goes on under another, on as many or on other numbers of ranks.
#include <cmath>
#include <thread>

#include "embedding_saves.hpp"

namespace {

using namespace tutti;
using namespace tutti::test;
using kernels::Pooling;
using kernels::RowOptimizer;

/// With more than two ranks, each pair of plans has at most one of the optimizers, and each optimizer all plans on both
/// sides.
bool is_left_out(Sharding from, Sharding to, RowOptimizer optimizer) {
  const auto place = [](Sharding s) { return std::find(std::begin(shardings), std::end(shardings), s) - shardings; };
  return world().size() > 2 && (place(from) + place(to) + static_cast<int>(optimizer)) % std::ssize(shardings) != 0;
}

class Checkpoints : public ::testing::TestWithParam<RowOptimizer> {};

TEST_P(Checkpoints, GoOnUnderAnyPlan) {
  const CommonFolder folder;
  for (const Sharding from : shardings)
    for (const Sharding to : shardings) {
      if (is_left_out(from, to, GetParam())) continue;
      Setting setting;
      setting.optimizer = GetParam();
      setting.tables = four_tables(from, Pooling::mean);
      Exercise before(world(), setting);
      before.run("before");
      save(before.collection, folder.path());
      setting.tables = four_tables(to, Pooling::mean);
      Exercise after(world(), setting);
      after.collection.load(CheckpointReader(folder.path()));
      after.reference = before.reference;
      EXPECT_EQ(after.collection.steps(), 4U);
      after.expect_rows("loaded");
      for (std::uint64_t k = 5; k <= 8; ++k) after.step(k, "after");
      after.expect_rows("after");
    }
}

TEST_P(Checkpoints, GoOnOnFewerRanks) {
  const CommonFolder folder;
  for (const Sharding from : shardings) {
    Setting setting;
    setting.optimizer = GetParam();
    setting.tables = four_tables(from, Pooling::sum);
    Exercise before(world(), setting);
    before.run("before");
    save(before.collection, folder.path());
    const Communicator part = world().split(world().rank() % 2);
    setting.tables = four_tables(Sharding::column_wise, Pooling::sum);
    Exercise after(part, setting);
    after.collection.load(CheckpointReader(folder.path()));
    after.reference = before.reference;
    for (std::uint64_t k = 5; k <= 8; ++k) after.step(k, "after");
    after.expect_rows("after");
    barrier(world());
  }
}

INSTANTIATE_TEST_SUITE_P(All, Checkpoints,
                         ::testing::Values(RowOptimizer::sgd, RowOptimizer::adagrad, RowOptimizer::row_wise_adagrad,
                                           RowOptimizer::adam));

TEST(EmbeddingCheckpoint, RowsOfAllTypesAreTheSameBits) {
  const CommonFolder folder;
  for (const auto type : {DatatypeKind::float32, DatatypeKind::bfloat16, DatatypeKind::float16, DatatypeKind::uint8}) {
    Setting setting;
    setting.tables = four_tables(Sharding::row_wise, Pooling::sum, type);
    Exercise before(world(), setting);
    for (std::uint64_t k = 1; k <= 3; ++k) train(before, k);
    save(before.collection, folder.path());
    Exercise after(world(), setting);
    after.collection.load(CheckpointReader(folder.path()));
    const auto shards = before.collection.shards();
    for (std::size_t i = 0; i < shards.size(); ++i) {
      std::vector<float> a(static_cast<std::size_t>(shards[i].rows()) * shards[i].columns());
      std::vector<float> b(a.size());
      before.collection.read_rows(i, shards[i].row_begin, shards[i].row_end, a);
      after.collection.read_rows(i, shards[i].row_begin, shards[i].row_end, b);
      EXPECT_EQ(a, b) << datatype_name(type);
    }
  }
}

TEST_P(Checkpoints, TablesMayHaveGrown) {
  const CommonFolder folder;
  for (const Sharding from : {Sharding::table_wise, Sharding::row_wise})
    for (const Sharding to : shardings) {
      if (is_left_out(from, to, GetParam())) continue;
      Setting setting;
      setting.optimizer = GetParam();
      setting.tables = four_tables(from, Pooling::sum);
      Exercise before(world(), setting);
      before.run("before");
      save(before.collection, folder.path());
      setting.tables = four_tables(to, Pooling::sum);
      setting.grow = true;
      for (auto& table : setting.tables) table.rows += 13;
      Exercise after(world(), setting);
      after.collection.load(CheckpointReader(folder.path()));
      const auto shards = after.collection.shards();
      for (std::size_t i = 0; i < shards.size(); ++i) {
        const TableShard& shard = shards[i];
        const std::int64_t saved = setting.tables[shard.table].rows - 13;
        std::vector<float> rows(static_cast<std::size_t>(shard.rows()) * shard.columns());
        after.collection.read_rows(i, shard.row_begin, shard.row_end, rows);
        for (std::int64_t place = 0; place < shard.rows(); ++place)
          for (std::size_t c = 0; c < shard.columns(); ++c) {
            const std::int64_t row = shard.table_rows().row(place);
            const double want = row < saved
                                    ? before.reference[shard.table].value(row, shard.column_begin + c)
                                    : static_cast<double>(first_value(shard.table, row, shard.column_begin + c));
            ASSERT_NEAR(rows[static_cast<std::size_t>(place) * shard.columns() + c], want, 2e-5)
                << "table " << shard.table << ", row " << row;
          }
      }
      // With an update of the new rows, whose state is new.
      for (std::size_t t = 0; t < setting.tables.size(); ++t)
        after.reference[t].take_first_rows(before.reference[t], setting.tables[t].rows - 13);
      for (std::uint64_t k = 5; k <= 8; ++k) after.step(k, "grown");
      after.expect_rows("grown");
    }
}

TEST(EmbeddingCheckpoint, AFailureOfOneRankIsAnErrorOfAll) {
  const CommonFolder folder;
  const int last = world().size() - 1;
  const auto add = [&](CheckpointPart& part, bool fails) {
    if (fails) throw Error(ErrorCode::io, "no room");
    part.add("of " + std::to_string(world().rank()), std::span<const char>("abc", 3));
  };
  save_checkpoint(world(), folder.path(), [&](CheckpointPart& part) { add(part, false); });
  const std::string told = "rank " + std::to_string(last) + ": no room";
  EXPECT_EQ(error_of([&] {
              save_checkpoint(world(), folder.path(), [&](CheckpointPart& part) { add(part, world().rank() == last); });
            }),
            told);
  EXPECT_EQ(error_of([&] {
              load_checkpoint(world(), folder.path(), [&](const CheckpointReader& reader) {
                reader.verify();
                if (world().rank() == last) throw Error(ErrorCode::io, "no room");
              });
            }),
            told);
  // Rank 0 cannot commit where a part was written elsewhere, nor can its thread.
  const auto add_elsewhere = [&](CheckpointPart& part) {
    if (world().rank() == last) part = CheckpointPart(folder.path() / "elsewhere", last);
    add(part, false);
  };
  const auto expect_no_part = [&](const std::string& error) {
    EXPECT_TRUE(error.starts_with("rank 0: ") && error.find("part-1-" + std::to_string(last)) != std::string::npos)
        << error;
  };
  expect_no_part(error_of([&] { save_checkpoint(world(), folder.path() / "new", add_elsewhere); }));
  expect_no_part(error_of([&] { CheckpointSave(world(), folder.path() / "newer", add_elsewhere).wait(); }));
  expect_no_part(error_of([&] {
    CheckpointSave save(world(), folder.path() / "newest", add_elsewhere);
    while (!save.test()) std::this_thread::yield();
  }));
}

TEST_P(Checkpoints, ASaveBesideTrainingHasTheBytesOfItsStep) {
  constexpr DatatypeKind types[] = {DatatypeKind::uint8, DatatypeKind::float32, DatatypeKind::bfloat16,
                                    DatatypeKind::float16};
  const CommonFolder folder;
  for (const Sharding sharding : shardings) {
    Setting setting;
    setting.optimizer = GetParam();
    setting.tables = four_tables(sharding, Pooling::sum, types[static_cast<std::size_t>(GetParam()) % 4]);
    Exercise training(world(), setting);
    train(training, 1);
    std::vector<float> own(1000, static_cast<float>(world().rank()));
    const auto add = [&](CheckpointPart& part, const Gate& gate) {
      training.collection.add_to(part, "early");
      gate.add_to(part);
      training.collection.add_to(part, "late");
      part.add("own of " + std::to_string(world().rank()), std::span<const float>(own));
    };
    const Gate open;
    open.open();
    save_checkpoint(world(), folder / "alone", [&](CheckpointPart& part) { add(part, open); });
    const Gate gate;
    CheckpointSave save(world(), folder / "beside", [&](CheckpointPart& part) { add(part, gate); });
    std::fill(own.begin(), own.end(), -1.0F);
    for (std::uint64_t k = 2; k <= 4; ++k) {
      train(training, k);
      EXPECT_FALSE(save.test());
    }
    gate.open();
    save.wait();
    EXPECT_TRUE(save.test());
    expect_same_files(folder / "alone", folder / "beside", " of " + std::to_string(static_cast<int>(sharding)));
  }
}

/// The last checkpoint and nothing else is in the folder.
void expect_only_the_last(const std::filesystem::path& folder) {
  barrier(world());
  CheckpointReader(folder).verify();
  const auto entries = std::filesystem::directory_iterator(folder);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1 + world().size());
  barrier(world());
}

TEST(EmbeddingCheckpoint, ASaveBesideTrainingThatFailsLeavesTheLastOne) {
  const CommonFolder folder;
  const int last = world().size() - 1;
  Setting setting;
  setting.tables = four_tables(Sharding::row_wise, Pooling::sum);
  auto training = std::make_unique<Exercise>(world(), setting);
  save(training->collection, folder.path());
  Gate gate;
  const auto add = [&](CheckpointPart& part) {
    gate.add_to(part);
    training->collection.add_to(part);
  };
  {
    CheckpointSave given_up(world(), folder.path(), add);
    EXPECT_FALSE(given_up.test());
    gate.open();
  }
  expect_only_the_last(folder.path());

  const std::string told = "rank " + std::to_string(last) + ": no room";
  const auto without_room = [&](CheckpointPart& part) {
    add(part);
    part.add("more of " + std::to_string(world().rank()), 1, DatatypeKind::bytes,
             [&](std::uint64_t, std::span<std::byte> out) {
               out[0] = std::byte{1};
               if (world().rank() == last) throw Error(ErrorCode::io, "no room");
             });
  };
  CheckpointSave failing(world(), folder.path(), without_room);
  EXPECT_EQ(error_of([&] {
              while (!failing.test()) continue;
            }),
            told);
  EXPECT_TRUE(failing.test());
  expect_only_the_last(folder.path());

  const auto error_after = [&](const auto& change) {
    gate = Gate();
    CheckpointSave save(world(), folder.path(), add);
    change();
    gate.open();
    return error_of([&] { save.wait(); }, ErrorCode::invalid_argument);
  };
  EXPECT_EQ(error_after([&] { training->collection.initialize(); }),
            "rank 0: checkpoint: the embedding collection was filled before its checkpoint was written");
  EXPECT_EQ(error_after([&] { training->collection.load(CheckpointReader(folder.path())); }),
            "rank 0: checkpoint: the embedding collection was loaded before its checkpoint was written");
  EXPECT_EQ(error_after([&] { training.reset(); }),
            "rank 0: checkpoint: the embedding collection was destroyed before its checkpoint was written");
  expect_only_the_last(folder.path());
}

/// A gradient whose square overflows leaves the rows finite, but not the state of Adagrad.
void expect_refused_state(RowOptimizer optimizer) {
  const CommonFolder folder;
  Setting setting;
  setting.optimizer = optimizer;
  setting.tables = four_tables(Sharding::table_wise, Pooling::sum);
  Exercise training(world(), setting);
  save(training.collection, folder.path());
  train(training, 1, 1e30F);
  for (std::size_t i = 0; i < training.collection.shards().size(); ++i) {
    const TableShard& shard = training.collection.shards()[i];
    std::vector<float> rows(static_cast<std::size_t>(shard.rows()) * shard.columns());
    training.collection.read_rows(i, shard.row_begin, shard.row_end, rows);
    EXPECT_TRUE(std::all_of(rows.begin(), rows.end(), [](float x) { return std::isfinite(x); }));
  }
  const auto expect_refusal = [&](const auto& save_it) {
    const std::string error = error_of(save_it, ErrorCode::invalid_argument);
    EXPECT_NE(error.find("'embedding first"), std::string::npos) << error;
    EXPECT_NE(error.find("adagrad"), std::string::npos) << error;
    expect_only_the_last(folder.path());
  };
  expect_refusal([&] { save(training.collection, folder.path()); });
  expect_refusal([&] {
    CheckpointSave(world(), folder.path(), [&](CheckpointPart& part) { training.collection.add_to(part); }).wait();
  });
}

TEST(EmbeddingCheckpoint, AStateThatIsNotFiniteIsNotSaved) {
  for (const RowOptimizer optimizer : {RowOptimizer::adagrad, RowOptimizer::row_wise_adagrad})
    expect_refused_state(optimizer);
}

TEST(EmbeddingCheckpoint, WhatIsMissingIsNamed) {
  const CommonFolder folder;
  Setting setting;
  setting.tables = four_tables(Sharding::table_wise, Pooling::sum);
  Exercise before(world(), setting);
  save(before.collection, folder.path());
  const auto message = [&](const Setting& other) {
    Exercise after(world(), other);
    return error_of([&] { after.collection.load(CheckpointReader(folder.path())); });
  };
  Setting more = setting;
  for (auto& table : more.tables) table.sharding = Sharding::data_parallel;
  more.tables[0].rows = 60;
  EXPECT_NE(message(more).find("'first' lacks rows"), std::string::npos) << message(more);
  // A narrower or shorter table would lose values without a word.
  for (const bool wide : {false, true}) {
    Setting less = setting;
    for (auto& table : less.tables) table.sharding = Sharding::data_parallel;
    if (wide)
      less.tables[0].dim = 7;
    else
      less.tables[0].rows = 40;
    EXPECT_NE(message(less).find("'first' has rows up to 50 with 8 values in the checkpoint, but is " +
                                 std::string(wide ? "50 x 7" : "40 x 8") + " here"),
              std::string::npos)
        << message(less);
  }
  Setting wider = setting;
  for (auto& table : wider.tables) table.sharding = Sharding::data_parallel;
  wider.tables[0].dim = 9;
  EXPECT_NE(message(wider).find("'first' lacks rows"), std::string::npos) << message(wider);
  Setting stateful = setting;
  for (auto& table : stateful.tables) table.sharding = Sharding::data_parallel;
  stateful.optimizer = RowOptimizer::adam;
  EXPECT_NE(message(stateful).find("lacks state of adam"), std::string::npos) << message(stateful);
}

}  // namespace
