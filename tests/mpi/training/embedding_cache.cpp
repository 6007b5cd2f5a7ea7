// SPDX-License-Identifier: BSD-3-Clause
// Tables in files, of which memory has some rows, train to the same bits as tables in memory.
#include <sys/resource.h>

#include <cstring>
#include <thread>

#include "embedding_saves.hpp"
#include "support/common_folder.hpp"

namespace {

using namespace tutti;
using namespace tutti::test;
using kernels::Pooling;
using kernels::RowOptimizer;

/// Two tables whose rows have one shape, others of their own shapes.
std::vector<EmbeddingTableConfig> tables(Sharding sharding, Pooling pooling, DatatypeKind type) {
  return {in_order({"first", 700, 8, type, pooling, 2, sharding}),
          in_order({"second", 500, 8, type, pooling, 2, sharding}),
          in_order({"few rows", 3, 5, type, pooling, 2, sharding}),
          in_order({"wide", 400, 33, type, pooling, 2, sharding})};
}

/// All vectors of this rank's samples, then all of its rows.
std::vector<float> trained(const Setting& setting) {
  Exercise exercise(world(), setting);
  std::vector<float> all;
  for (std::uint64_t k = 1; k <= 6; ++k) {
    const EmbeddingInput input = exercise.input(k);
    std::thread ahead([&] { exercise.collection.prefetch_rows(input); });
    exercise.collection.start_forward(0, input);
    ahead.join();
    const auto& vectors = exercise.collection.finish_forward(0);
    const std::size_t batch = setting.batches[(k - 1) % setting.batches.size()];
    const std::size_t samples = sample_slice(batch, world().rank(), world().size()).size();
    for (std::size_t t = 0; t < vectors.size(); ++t)
      for (std::size_t s = 0; s < samples; ++s) {
        const float* vector = vectors[t].data + s * vectors[t].stride;
        all.insert(all.end(), vector, vector + setting.tables[t].dim);
      }
    exercise.fill_gradients(k);
    exercise.collection.start_backward(0);
    exercise.collection.finish_backward(0, static_cast<float>(rate));
  }
  for (std::size_t i = 0; i < exercise.collection.shards().size(); ++i) {
    const TableShard& shard = exercise.collection.shards()[i];
    const std::size_t before = all.size();
    all.resize(before + static_cast<std::size_t>(shard.rows()) * shard.columns());
    exercise.collection.read_rows(i, shard.row_begin, shard.row_end, std::span(all).subspan(before));
  }
  return all;
}

void expect_same_bits(Setting setting, const std::string& where) {
  setting.table_memory = 0;
  const auto expected = trained(setting);
  setting.table_memory = 4000;
  const auto cached = trained(setting);
  ASSERT_EQ(cached.size(), expected.size()) << where;
  EXPECT_EQ(std::memcmp(cached.data(), expected.data(), expected.size() * sizeof(float)), 0) << where;
}

class EmbeddingCache : public ::testing::TestWithParam<RowOptimizer> {};

TEST_P(EmbeddingCache, HasTheBitsOfMemory) {
  constexpr DatatypeKind types[] = {DatatypeKind::float32, DatatypeKind::bfloat16, DatatypeKind::float16,
                                    DatatypeKind::uint8};
  std::size_t turn = 0;
  for (const Sharding sharding : shardings)
    for (const auto pooling : {Pooling::sum, Pooling::mean, Pooling::max}) {
      if (pooling == Pooling::max && (sharding == Sharding::row_wise || sharding == Sharding::row_wise_on_node))
        continue;
      Setting setting;
      setting.optimizer = GetParam();
      const DatatypeKind type = types[turn++ % std::size(types)];
      setting.tables = tables(sharding, pooling, type);
      setting.rounding = turn % 2 == 0 ? kernels::Rounding::stochastic : kernels::Rounding::nearest;
      setting.layout = turn % 3 == 0 ? InputLayout::local : InputLayout::global;
      setting.index_type = turn % 5 == 0 ? kernels::IndexType::int32 : kernels::IndexType::int64;
      expect_same_bits(setting, std::string(sharding_name(sharding)) + " " + datatype_name(type));
    }
}

/// A full save, an increment, one beside training, and one of what changed beside it.
void save_in_all_ways(const Setting& setting, const std::filesystem::path& folder) {
  Exercise training(world(), setting);
  const auto steps = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t k = from; k <= to; ++k) train(training, k);
  };
  steps(1, 2);
  save(training.collection, folder / "full");
  save(training.collection, folder / "chain", SaveKind::incremental);
  steps(3, 4);
  save(training.collection, folder / "chain", SaveKind::incremental);
  steps(5, 6);
  const Gate gate;
  const auto add = [&](CheckpointPart& part) {
    gate.add_to(part);
    training.collection.add_to(part);
  };
  CheckpointSave beside(world(), folder / "chain", add, SaveKind::incremental);
  CheckpointSave whole(world(), folder / "beside", add);
  steps(5, 8);  // rows that are being saved, and others
  gate.open();
  beside.wait();
  whole.wait();
  save(training.collection, folder / "chain", SaveKind::incremental);
  EXPECT_EQ(generations(folder / "chain"), 4U);
}

TEST_P(EmbeddingCache, SavesAndLoadsTheBitsOfMemory) {
  constexpr DatatypeKind types[] = {DatatypeKind::uint8, DatatypeKind::float32, DatatypeKind::bfloat16};
  constexpr std::size_t memories[] = {0, 4000};
  std::size_t turn = static_cast<std::size_t>(GetParam());
  for (const Sharding sharding : shardings) {
    const CommonFolder folder;
    Setting setting;
    setting.optimizer = GetParam();
    setting.tables = tables(sharding, Pooling::sum, types[turn++ % std::size(types)]);
    for (const std::size_t memory : memories) {
      setting.table_memory = memory;
      save_in_all_ways(setting, folder / std::to_string(memory));
    }
    for (const char* which : {"full", "chain", "beside"}) {
      const std::string where = std::string(" of ") + which + ", " + sharding_name(sharding);
      expect_same_files(folder / "0" / which, folder / "4000" / which, where);
      setting.table_memory = 0;
      const auto expected = loaded_rows(setting, folder / "0" / which);
      setting.table_memory = 4000;
      EXPECT_TRUE(loaded_rows(setting, folder / "0" / which) == expected) << "memory to files" << where;
      setting.table_memory = 0;
      EXPECT_TRUE(loaded_rows(setting, folder / "4000" / which) == expected) << "files to memory" << where;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EmbeddingCache,
                         ::testing::Values(RowOptimizer::sgd, RowOptimizer::adagrad, RowOptimizer::row_wise_adagrad,
                                           RowOptimizer::adam));

TEST(EmbeddingCacheErrors, StochasticRoundingDependsOnRowsAndNotOnSlots) {
  for (const auto type : {DatatypeKind::bfloat16, DatatypeKind::uint8}) {
    Setting setting;
    setting.tables = tables(Sharding::row_wise_on_node, Pooling::sum, type);
    setting.rounding = kernels::Rounding::stochastic;
    expect_same_bits(setting, datatype_name(type));
  }
}

/// The error of a collection, which all ranks get.
std::string refusal(const EmbeddingCollectionOptions& options, ErrorCode code, double mean_lookups = 1) {
  const std::vector<EmbeddingTableConfig> table{
      {"large", 10000, 16, DatatypeKind::float32, Pooling::sum, mean_lookups, Sharding::row_wise}};
  try {
    EmbeddingCollection(world(), table, plan_sharding(world(), table, {.batch = 16}), options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "none";
}

void expect_text(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
}

TEST(EmbeddingCacheErrors, OptionsThatDoNotGoTogether) {
  const CommonFolder folder;
  EmbeddingCollectionOptions options{.max_batch = 16, .table_memory = 20000};
  expect_text(refusal(options, ErrorCode::invalid_argument), {"table_memory is set", "table_folder is empty"});
  options.table_folder = folder.path().string();
  options.table_memory = 0;
  expect_text(refusal(options, ErrorCode::invalid_argument), {"table_folder is set", "table_memory is 0"});
  options.table_memory = 1000;
  expect_text(refusal(options, ErrorCode::invalid_argument, 50),
              {"table_memory is 1000 bytes", "max_batch = 16", "rank 0", "lower max_batch"});
  options.table_memory = 20000;
  EXPECT_EQ(refusal(options, ErrorCode::invalid_argument), "none");
  if (world().size() > 1) {
    options.table_memory += static_cast<std::size_t>(world().rank());
    expect_text(refusal(options, ErrorCode::mismatch), {"options"});
  }
}

TEST(EmbeddingCacheErrors, AFileThatOneRankCannotMakeIsAnErrorOfAll) {
  const CommonFolder folder;
  const int last = world().size() - 1;
  EmbeddingCollectionOptions options{.max_batch = 16, .table_memory = 20000, .table_folder = folder / "none"};
  expect_text(refusal(options, ErrorCode::invalid_argument), {"rank 0: ", "none' takes no file", "name a folder"});
  options.table_folder = folder.path().string();
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{4096, limit.rlim_max};
  if (world().rank() == last) setrlimit(RLIMIT_FSIZE, &small);
  const std::string text = refusal(options, ErrorCode::out_of_memory);
  setrlimit(RLIMIT_FSIZE, &limit);
  expect_text(text, {"has no room for", "bytes of rows", ("rank " + std::to_string(last)).c_str()});
  EXPECT_EQ(refusal(options, ErrorCode::out_of_memory), "none");
}

}  // namespace
