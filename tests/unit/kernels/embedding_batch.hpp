// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <random>

#include "embedding_reference.hpp"

/// Random bags of one table and the gradients of their sums.
namespace embedding_test {

class Batch {
 public:
  Batch(std::int64_t rows, std::size_t columns, std::size_t bag_count, int longest, unsigned seed = 1)
      : bags(bag_count), dim(columns), gradient(bag_count * columns) {
    std::mt19937 generator(seed);
    for (std::size_t b = 0; b < bags; ++b) {
      const int length = static_cast<int>(generator() % static_cast<unsigned>(longest + 1));
      for (int k = 0; k < length; ++k) indices.push_back(static_cast<std::int64_t>(generator() % rows));
      offsets.push_back(static_cast<std::int64_t>(indices.size()));
    }
    for (auto& g : gradient) g = static_cast<float>(static_cast<int>(generator() % 2001) - 1000) / 1024.0F;
  }

  std::size_t bags;
  std::size_t dim;
  std::vector<std::int64_t> indices;
  std::vector<std::int64_t> offsets{0};
  std::vector<float> gradient;  ///< bags x dim

  /// The gradients of the rows that occur.
  [[nodiscard]] std::map<std::size_t, std::vector<double>> row_gradients() const {
    std::map<std::size_t, std::vector<double>> result;
    for (std::size_t b = 0; b < bags; ++b) {
      for (auto p = offsets[b]; p < offsets[b + 1]; ++p) {
        auto& sum = result[static_cast<std::size_t>(indices[static_cast<std::size_t>(p)])];
        sum.resize(dim);
        for (std::size_t d = 0; d < dim; ++d) sum[d] += static_cast<double>(gradient[b * dim + d]);
      }
    }
    return result;
  }

  /// Updates a table that has the columns from its place on.
  void update(const EmbeddingTable& table, std::vector<float>& state, const RowUpdate& change,
              std::size_t partitions = 1, const RowSquares* squares = nullptr) const {
    EmbeddingWorkspace workspace;
    float* states = state.data();
    const auto [lookups, pooled] = views(table);
    embedding_bag_backward({&table, 1}, {&lookups, 1}, IndexType::int64, bags, {&pooled, 1}, {&states, 1}, change,
                           {.partitions = partitions}, workspace,
                           squares != nullptr ? std::span(squares, 1) : std::span<const RowSquares>());
  }

  [[nodiscard]] RowSquares squares(const EmbeddingTable& table, std::size_t partitions = 1) const {
    EmbeddingWorkspace workspace;
    RowSquares result;
    const auto [lookups, pooled] = views(table);
    embedding_row_squares({&table, 1}, {&lookups, 1}, IndexType::int64, bags, {&pooled, 1}, {.partitions = partitions},
                          workspace, {&result, 1});
    return result;
  }

 private:
  [[nodiscard]] std::pair<TableLookups, Pooled<const float>> views(const EmbeddingTable& table) const {
    return {{indices.data(), offsets.data(), nullptr}, {gradient.data() + table.place.first_column, dim}};
  }
};

inline float start_value(std::size_t row, std::size_t column) {
  return static_cast<float>(static_cast<int>((row * 131 + column * 17) % 257) - 128) / 128.0F;
}

inline std::vector<float> zero_state(const EmbeddingTable& table, RowOptimizer optimizer) {
  return std::vector<float>(static_cast<std::size_t>(table.rows) * row_state_values(optimizer, table.dim));
}

inline constexpr RowOptimizer all_optimizers[] = {RowOptimizer::sgd, RowOptimizer::adagrad,
                                                  RowOptimizer::row_wise_adagrad, RowOptimizer::adam};
inline constexpr DatatypeKind all_types[] = {DatatypeKind::float32, DatatypeKind::bfloat16, DatatypeKind::float16,
                                             DatatypeKind::uint8};

}  // namespace embedding_test
