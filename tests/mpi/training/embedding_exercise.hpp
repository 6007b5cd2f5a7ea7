// SPDX-License-Identifier: BSD-3-Clause
// Trains a collection and the reference side by side.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <tutti/tutti.hpp>
#include <vector>

#include "embedding_reference.hpp"
#include "support/world.hpp"

namespace tutti::test {

inline constexpr double rate = 0.1;
inline constexpr float epsilon = 1e-4F;

/// TUTTI_TEST_TABLE_MEMORY has tests of tables in memory run with tables in files.
inline std::size_t table_memory_of_tests() {
  const char* bytes = std::getenv("TUTTI_TEST_TABLE_MEMORY");
  return bytes != nullptr ? std::strtoull(bytes, nullptr, 10) : 0;
}

inline std::string table_folder(std::size_t table_memory) {
  return table_memory > 0 ? std::filesystem::temp_directory_path().string() : "";
}

struct Setting {
  std::vector<EmbeddingTableConfig> tables;
  kernels::RowOptimizer optimizer = kernels::RowOptimizer::sgd;
  InputLayout layout = InputLayout::global;
  bool weighted = false;
  kernels::IndexType index_type = kernels::IndexType::int64;
  std::size_t slots = 1;
  bool grow = false;
  DatatypeKind exchange_type = DatatypeKind::float32;
  kernels::Rounding rounding = kernels::Rounding::nearest;
  std::size_t table_memory = table_memory_of_tests();
  double tolerance = 2e-5;
  std::vector<std::size_t> batches{13, 8, 2, 13};
  MemoryKind memory = MemoryKind::host;
  Stream stream{};
  std::function<void()> drain = [] {};  ///< device: until what is on the stream is done
  /// Device: the host may touch device memory while the result lives.
  std::function<std::shared_ptr<void>()> access = [] { return nullptr; };
};

/// Rows on one node are dealt in cyclic order here, so that whatever tries all shardings tries both orders.
inline EmbeddingTableConfig in_order(EmbeddingTableConfig table) {
  table.row_order = table.sharding == Sharding::row_wise_on_node ? RowOrder::cyclic : RowOrder::blocks;
  return table;
}

inline std::vector<EmbeddingTableConfig> four_tables(Sharding sharding, kernels::Pooling pooling,
                                                     DatatypeKind type = DatatypeKind::float32) {
  return {
      in_order({"first", 50, 8, type, pooling, 2, sharding}), in_order({"few rows", 3, 5, type, pooling, 2, sharding}),
      in_order({"wide", 40, 33, type, pooling, 2, sharding}), in_order({"one row", 1, 4, type, pooling, 2, sharding})};
}

/// A collection with its data: everything but the expectations.
class Exercise {
 public:
  Exercise(const Communicator& comm, const Setting& setting)
      : Exercise(comm, setting, plan_sharding(comm, setting.tables, {.batch = 16, .optimizer = setting.optimizer})) {}
  Exercise(const Communicator& comm, const Setting& setting, ShardingPlan plan)
      : setting_(setting),
        comm_(comm),
        collection(comm, of_few_lookups(setting), std::move(plan),
                   {.optimizer = setting.optimizer,
                    .epsilon = epsilon,
                    .rounding = setting.rounding,
                    .max_batch = 16,
                    .slots = setting.slots,
                    .weighted = setting.weighted,
                    .memory = setting.memory,
                    .stream = setting.stream,
                    .grow = setting.grow,
                    .exchange_type = setting.exchange_type,
                    .table_memory = on_host(setting) ? setting.table_memory : 0,
                    .table_folder = on_host(setting) ? table_folder(setting.table_memory) : ""}),
        bags_(setting.slots) {
    for (std::size_t t = 0; t < setting.tables.size(); ++t) {
      reference.emplace_back(setting.tables[t], t, setting.optimizer);
      collection.fill(t, [&](std::int64_t begin, std::int64_t end, std::span<float> values) {
        const std::size_t dim = setting.tables[t].dim;
        for (std::int64_t row = begin; row < end; ++row)
          for (std::size_t c = 0; c < dim; ++c)
            values[static_cast<std::size_t>(row - begin) * dim + c] = first_value(t, row, c);
      });
    }
  }

  /// The input of step `step`, counted from 1; its memory lives until the slot's next.
  EmbeddingInput input(std::uint64_t step, std::size_t slot = 0) {
    auto& data = bags_[slot];
    data = {};
    const std::size_t batch = batch_of(step);
    const SampleSlice mine = slice(step);
    for (std::size_t t = 0; t < setting_.tables.size(); ++t) {
      data.bags.push_back(make_bags(setting_.tables[t], t, batch, step, setting_.weighted));
      auto& bags = data.bags.back();
      data.narrow.emplace_back(bags.indices.begin(), bags.indices.end());
    }
    for (std::size_t t = 0; t < setting_.tables.size(); ++t) {
      const auto& bags = data.bags[t];
      const bool local = setting_.layout == InputLayout::local;
      if (!local && !collection.needs(t)) {
        data.lookups.push_back({});
        continue;
      }
      const void* indices = setting_.index_type == kernels::IndexType::int32
                                ? static_cast<const void*>(data.narrow[t].data())
                                : bags.indices.data();
      data.lookups.push_back({indices, bags.offsets.data() + (local ? mine.begin : 0),
                              bags.weights.empty() ? nullptr : bags.weights.data()});
    }
    return {data.lookups, setting_.index_type, batch, setting_.layout, {}};
  }

  void expect_vectors(const std::vector<kernels::Pooled<const float>>& vectors, std::uint64_t step,
                      const std::string& where, std::size_t slot = 0) const {
    setting_.drain();
    const auto access = setting_.access();
    const SampleSlice mine = slice(step);
    for (std::size_t t = 0; t < reference.size(); ++t) {
      const auto expected = reference[t].forward(bags_[slot].bags[t]);
      const std::size_t dim = setting_.tables[t].dim;
      for (std::size_t s = 0; s < mine.size(); ++s)
        for (std::size_t c = 0; c < dim; ++c) {
          const double want = expected[(mine.begin + s) * dim + c];
          ASSERT_NEAR(static_cast<double>(vectors[t].data[s * vectors[t].stride + c]), want, setting_.tolerance)
              << where << ": table " << t << ", sample " << mine.begin + s << ", column " << c << ", step " << step;
        }
    }
  }

  void fill_gradients(std::uint64_t step, std::size_t slot = 0) {
    const auto& gradients = collection.gradients(slot);
    const auto access = setting_.access();
    const SampleSlice mine = slice(step);
    for (std::size_t t = 0; t < gradients.size(); ++t)
      for (std::size_t s = 0; s < mine.size(); ++s)
        for (std::size_t c = 0; c < setting_.tables[t].dim; ++c)
          gradients[t].data[s * gradients[t].stride + c] = gradient_value(t, mine.begin + s, c, step);
  }

  void update_reference(std::uint64_t step, std::size_t slot = 0) {
    for (std::size_t t = 0; t < reference.size(); ++t)
      reference[t].update(bags_[slot].bags[t], step, rate, static_cast<double>(epsilon));
  }

  void expect_rows(const std::string& where) const {
    const auto shards = collection.shards();
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const TableShard& shard = shards[i];
      std::vector<float> rows(static_cast<std::size_t>(shard.rows()) * shard.columns());
      collection.read_rows(i, shard.row_begin, shard.row_end, rows);
      for (std::int64_t place = 0; place < shard.rows(); ++place)
        for (std::size_t c = 0; c < shard.columns(); ++c) {
          const std::int64_t row = shard.table_rows().row(place);
          const float got = rows[static_cast<std::size_t>(place) * shard.columns() + c];
          ASSERT_NEAR(static_cast<double>(got), reference[shard.table].value(row, shard.column_begin + c),
                      setting_.tolerance)
              << where << ": table " << shard.table << ", row " << row << ", column " << shard.column_begin + c;
        }
    }
  }

  /// The load of a batch whose lookups are done, on this rank.
  void expect_load(std::size_t slot, const std::string& where) const {
    double lookups = 0;
    double distinct = 0;
    for (const TableShard& shard : collection.shards()) {
      const Bags& bags = bags_[slot].bags[shard.table];
      const bool is_replica = collection.plan().shardings[shard.table] == Sharding::data_parallel;
      const SampleSlice mine =
          is_replica ? sample_slice(bags.size(), comm_.rank(), comm_.size()) : SampleSlice{0, bags.size()};
      std::set<std::int64_t> rows;
      for (std::int64_t p = 0; p < std::ssize(bags.indices); ++p) {
        const std::int64_t row = bags.indices[static_cast<std::size_t>(p)];
        if (!shard.table_rows().has(row)) continue;
        rows.insert(row);
        lookups += p >= bags.offsets[mine.begin] && p < bags.offsets[mine.end] ? 1 : 0;
      }
      distinct += static_cast<double>(rows.size());
    }
    const RankLoad load = collection.batch_load(slot);
    EXPECT_EQ(load.lookups, lookups) << where;
    EXPECT_EQ(load.distinct_rows, distinct) << where;
    EXPECT_EQ(load.bytes, collection.bytes()) << where;
  }

  void step(std::uint64_t k, const std::string& where) {
    collection.start_forward(0, input(k));
    collection.progress();
    expect_vectors(collection.finish_forward(0), k, where);
    fill_gradients(k);
    collection.start_backward(0);
    collection.progress();
    collection.finish_backward(0, static_cast<float>(rate));
    update_reference(k);
  }

  void run(const std::string& where) {
    for (std::uint64_t k = 1; k <= setting_.batches.size(); ++k) step(k, where);
    expect_rows(where);
  }

 private:
  static bool on_host(const Setting& setting) { return setting.memory == MemoryKind::host; }
  /// So that a collection takes less table_memory than its batches need.
  static std::vector<EmbeddingTableConfig> of_few_lookups(const Setting& setting) {
    std::vector<EmbeddingTableConfig> tables = setting.tables;
    if (setting.table_memory > 0)
      for (EmbeddingTableConfig& table : tables) table.mean_lookups = 1e-3;
    return tables;
  }
  struct Data {
    std::vector<Bags> bags;
    std::vector<std::vector<std::int32_t>> narrow;
    std::vector<kernels::TableLookups> lookups;
  };
  [[nodiscard]] std::size_t batch_of(std::uint64_t step) const {
    return setting_.batches[(step - 1) % setting_.batches.size()];
  }
  [[nodiscard]] SampleSlice slice(std::uint64_t step) const {
    return sample_slice(batch_of(step), comm_.rank(), comm_.size());
  }

  Setting setting_;
  const Communicator& comm_;

 public:
  EmbeddingCollection collection;
  std::vector<ReferenceTable> reference;

 private:
  std::vector<Data> bags_;
};

}  // namespace tutti::test
