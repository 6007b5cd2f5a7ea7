// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "embedding_batch.hpp"

namespace {

using namespace embedding_test;

constexpr std::int64_t rows = 5000;
constexpr std::size_t dim = 48;

RowUpdate stochastic(RowOptimizer optimizer) {
  RowUpdate update{optimizer, 0.125F, 1e-8F};
  update.rounding = Rounding::stochastic;
  update.step = 5;
  update.seed = 99;
  return update;
}

/// The values of columns [first, last) of a whole table.
std::vector<float> columns_of(const std::vector<float>& whole, std::size_t first, std::size_t last) {
  std::vector<float> result;
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    result.insert(result.end(), whole.begin() + static_cast<std::ptrdiff_t>(r * dim + first),
                  whole.begin() + static_cast<std::ptrdiff_t>(r * dim + last));
  }
  return result;
}

std::vector<float> unsharded(const Batch& batch, DatatypeKind type, RowOptimizer optimizer, std::vector<float>& state) {
  OwnedTable own(type, rows, dim, {.table = 3});
  own.fill(start_value);
  state = zero_state(own.table(), optimizer);
  batch.update(own.table(), state, stochastic(optimizer));
  return own.values();
}

TEST(EmbeddingSharding, ColumnsGetTheBitsOfTheWholeTable) {
  const Batch batch(rows, dim, 900, 5);
  for (const DatatypeKind type : {DatatypeKind::float32, DatatypeKind::bfloat16, DatatypeKind::float16}) {
    for (const RowOptimizer optimizer : {RowOptimizer::sgd, RowOptimizer::adagrad, RowOptimizer::adam}) {
      std::vector<float> state;
      const auto whole = unsharded(batch, type, optimizer, state);
      for (const auto& cuts : {std::vector<std::size_t>{0, 16, 48}, {0, 1, 17, 30, 48}}) {
        for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
          OwnedTable shard(type, rows, cuts[k + 1] - cuts[k], {3, 0, cuts[k], dim});
          shard.fill(start_value);
          auto shard_state = zero_state(shard.table(), optimizer);
          batch.update(shard.table(), shard_state, stochastic(optimizer));
          EXPECT_EQ(shard.values(), columns_of(whole, cuts[k], cuts[k + 1]))
              << datatype_name(type) << " columns " << cuts[k] << " to " << cuts[k + 1];
        }
      }
    }
  }
}

// A row shard sees the indices of its rows, minus its first row.
TEST(EmbeddingSharding, RowsGetTheBitsOfTheWholeTable) {
  const Batch batch(rows, dim, 900, 5);
  for (const DatatypeKind type : all_types) {
    for (const RowOptimizer optimizer : all_optimizers) {
      std::vector<float> state;
      const auto whole = unsharded(batch, type, optimizer, state);
      for (const auto& [first, last] : {std::pair<std::int64_t, std::int64_t>{0, 1700}, {1700, 1701}, {1701, rows}}) {
        Batch part = batch;
        for (auto& index : part.indices) index -= first;
        OwnedTable shard(type, last - first, dim, {3, first, 0, 0});
        shard.fill(start_value);
        auto shard_state = zero_state(shard.table(), optimizer);
        const TableLookups lookups{part.indices.data(), part.offsets.data(), nullptr};
        const Pooled<const float> pooled{part.gradient.data(), dim};
        float* states = shard_state.data();
        EmbeddingWorkspace workspace;
        embedding_bag_backward({&shard.table(), 1}, {&lookups, 1}, IndexType::int64, part.bags, {&pooled, 1},
                               {&states, 1}, stochastic(optimizer), {.policy = IndexPolicy::ignore, .partitions = 2},
                               workspace);
        const std::vector<float> expected(whole.begin() + first * static_cast<std::int64_t>(dim),
                                          whole.begin() + last * static_cast<std::int64_t>(dim));
        EXPECT_EQ(shard.values(), expected) << datatype_name(type) << " rows " << first << " to " << last;
      }
    }
  }
}

TEST(EmbeddingSharding, RowWiseAdagradTakesTheMeanOverTheWholeRow) {
  const Batch batch(rows, dim, 900, 5);
  for (const DatatypeKind type : {DatatypeKind::float32, DatatypeKind::bfloat16}) {
    std::vector<float> state;
    const auto whole = unsharded(batch, type, RowOptimizer::row_wise_adagrad, state);
    const std::vector<std::size_t> cuts{0, 5, 16, 48};
    std::vector<OwnedTable> shards;
    shards.reserve(3);
    RowSquares sums;
    for (std::size_t k = 0; k < 3; ++k) {
      shards.emplace_back(type, rows, cuts[k + 1] - cuts[k], ShardPlace{3, 0, cuts[k], dim}).fill(start_value);
      const RowSquares part = batch.squares(shards[k].table());
      const RowSquares again = batch.squares(shards[k].table(), 3);
      EXPECT_EQ(part.rows, again.rows);
      EXPECT_EQ(part.sums, again.sums);
      EXPECT_TRUE(std::is_sorted(part.rows.begin(), part.rows.end()));
      if (k == 0) sums = {part.rows, std::vector<double>(part.sums.size())};
      ASSERT_EQ(part.rows, sums.rows);
      for (std::size_t i = 0; i < part.sums.size(); ++i) sums.sums[i] += part.sums[i];
    }
    EXPECT_EQ(sums.rows.size(), batch.row_gradients().size());
    for (std::size_t k = 0; k < 3; ++k) {
      auto shard_state = zero_state(shards[k].table(), RowOptimizer::row_wise_adagrad);
      batch.update(shards[k].table(), shard_state, stochastic(RowOptimizer::row_wise_adagrad), k + 1, &sums);
      EXPECT_EQ(shards[k].values(), columns_of(whole, cuts[k], cuts[k + 1])) << datatype_name(type) << " shard " << k;
      EXPECT_EQ(shard_state, state);
    }
  }
}

TEST(EmbeddingSharding, RowWiseAdagradRefusesMissingAndForeignSums) {
  const Batch batch(rows, dim, 90, 5);
  OwnedTable shard(DatatypeKind::float32, rows, 16, {0, 0, 16, dim});
  shard.fill(start_value);
  const auto before = shard.values();
  auto state = zero_state(shard.table(), RowOptimizer::row_wise_adagrad);
  const RowUpdate update{RowOptimizer::row_wise_adagrad};
  EXPECT_THROW(batch.update(shard.table(), state, update), Error);
  const RowSquares foreign = Batch(rows, dim, 90, 5, 2).squares(shard.table());
  EXPECT_THROW(batch.update(shard.table(), state, update, 1, &foreign), Error);
  EXPECT_THROW(batch.update(shard.table(), state, update, 3, &foreign), Error);
  RowSquares longer = batch.squares(shard.table());
  longer.rows.push_back(rows);
  longer.sums.push_back(1);
  EXPECT_THROW(batch.update(shard.table(), state, update, 2, &longer), Error);
  EXPECT_EQ(shard.values(), before);
}

TEST(EmbeddingSharding, RefusesColumnsOutsideTheWholeTable) {
  OwnedTable shard(DatatypeKind::float32, 10, 16, {0, 0, 40, 48});
  std::vector<float> state;
  EXPECT_THROW(Batch(10, 64, 5, 2).update(shard.table(), state, RowUpdate{}), Error);
}

}  // namespace
