// SPDX-License-Identifier: BSD-3-Clause
// A collection of one table, whose steps are spelled out.
#pragma once

#include <functional>

#include "embedding_exercise.hpp"

namespace tutti::test {

using Samples = std::vector<std::vector<std::int64_t>>;  // the indices of each sample of a batch

/// A collection of one table, and steps on it that say all they do.
class OneTable {
 public:
  OneTable(EmbeddingTableConfig config, EmbeddingCollectionOptions options)
      : config_(std::move(config)),
        collection(world(), {&config_, 1},
                   plan_sharding(world(), {&config_, 1}, {.batch = 8, .optimizer = options.optimizer}),
                   with_room(options)) {}

  void fill(const std::function<float(std::int64_t row, std::size_t column)>& value) {
    collection.fill(0, [&](std::int64_t begin, std::int64_t end, std::span<float> values) {
      for (std::int64_t row = begin; row < end; ++row)
        for (std::size_t c = 0; c < config_.dim; ++c)
          values[static_cast<std::size_t>(row - begin) * config_.dim + c] = value(row, c);
    });
  }

  /// One step. Returns the first column of this rank's pooled vectors; sample s has the gradient gradient(s).
  std::vector<float> step(const Samples& samples, const std::function<float(std::size_t)>& gradient,
                          float learning_rate, InputLayout layout = InputLayout::global) {
    const SampleSlice mine = sample_slice(samples.size(), world().rank(), world().size());
    const bool local = layout == InputLayout::local;
    Bags bags;
    for (std::size_t s = local ? mine.begin : 0; s < (local ? mine.end : samples.size()); ++s) {
      bags.indices.insert(bags.indices.end(), samples[s].begin(), samples[s].end());
      bags.offsets.push_back(static_cast<std::int64_t>(bags.indices.size()));
    }
    const kernels::TableLookups lookups{bags.indices.data(), bags.offsets.data(), nullptr};
    collection.start_forward(0, {{&lookups, 1}, kernels::IndexType::int64, samples.size(), layout, {}});
    const auto pooled = collection.finish_forward(0)[0];
    std::vector<float> first;
    for (std::size_t s = 0; s < mine.size(); ++s) first.push_back(pooled.data[s * pooled.stride]);
    const auto to = collection.gradients(0)[0];
    for (std::size_t s = 0; s < mine.size(); ++s)
      for (std::size_t c = 0; c < config_.dim; ++c) to.data[s * to.stride + c] = gradient(mine.begin + s);
    collection.start_backward(0);
    collection.finish_backward(0, learning_rate);
    return first;
  }

  /// All rows, of all ranks.
  [[nodiscard]] std::vector<float> rows() const {
    std::vector<float> all(static_cast<std::size_t>(config_.rows) * config_.dim, 0);
    const auto shards = collection.shards();
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const TableShard& shard = shards[i];
      std::vector<float> part(static_cast<std::size_t>(shard.rows()) * shard.columns());
      collection.read_rows(i, shard.row_begin, shard.row_end, part);
      for (std::size_t k = 0; k < part.size(); ++k)
        all[static_cast<std::size_t>(shard.table_rows().row(static_cast<std::int64_t>(k / shard.columns()))) *
                config_.dim +
            shard.column_begin + k % shard.columns()] = part[k];
    }
    if (collection.plan().shardings[0] != Sharding::data_parallel) allreduce(world(), all, sum);
    return all;
  }

 private:
  static EmbeddingCollectionOptions with_room(EmbeddingCollectionOptions options) {
    options.max_batch = 64;
    return options;
  }
  EmbeddingTableConfig config_;

 public:
  EmbeddingCollection collection;
};

inline EmbeddingTableConfig table(Sharding sharding, std::int64_t rows = 6, std::size_t dim = 8,
                                  DatatypeKind type = DatatypeKind::float32,
                                  kernels::Pooling pooling = kernels::Pooling::sum) {
  return in_order({"only", rows, dim, type, pooling, 2, sharding});
}

inline constexpr Sharding shardings[] = {Sharding::data_parallel, Sharding::table_wise, Sharding::row_wise,
                                         Sharding::column_wise, Sharding::row_wise_on_node};

}  // namespace tutti::test
