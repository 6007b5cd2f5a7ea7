// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tutti/kernels/embedding_backward.hpp>
#include <tutti/kernels/embedding_bag.hpp>
#include <tutti/kernels/table_memory.hpp>
#include <vector>

namespace dlrm {

/// The lookups of one batch in this rank's tables, in the order of the shard's tables.
struct ShardLookups {
  std::span<const tutti::kernels::TableLookups> tables;
  tutti::kernels::IndexType index_type = tutti::kernels::IndexType::int64;
  std::size_t bags = 0;  ///< samples of the global batch
};

/// The embedding tables that one rank owns, with their optimizer state. Local; rows are float32.
class EmbeddingShard {
 public:
  /// `owned`: numbers of the tables of this rank; `rows`: row counts of all tables.
  EmbeddingShard(std::vector<std::size_t> owned, const std::vector<std::size_t>& rows, std::size_t dim,
                 tutti::kernels::RowOptimizer optimizer);

  [[nodiscard]] const std::vector<std::size_t>& owned() const { return owned_; }
  [[nodiscard]] std::size_t dim() const { return dim_; }
  /// Rows x D values of the i-th owned table.
  [[nodiscard]] std::span<float> weights(std::size_t i);
  /// Optimizer state of the i-th owned table; empty for sgd, one value a row for row-wise Adagrad.
  [[nodiscard]] std::span<float> state(std::size_t i);

  /// Values of optimizer state that a table of rows x dim needs.
  [[nodiscard]] static std::size_t state_values(tutti::kernels::RowOptimizer optimizer, std::size_t rows,
                                                std::size_t dim);

  /// An index that is out of range, as one sentence with table, row and sample; empty when all are in range.
  [[nodiscard]] std::string check(const ShardLookups& lookups) const;

  /// Sums the rows of each bag into pooled [bags][owned tables][D]. The lookups have been checked.
  void forward(const ShardLookups& lookups, float* pooled) const;

  /// Updates the rows from the gradients of the pooled vectors, each row once with the sum over its occurrences.
  void backward(const ShardLookups& lookups, const float* gradients, float learning_rate);

 private:
  std::vector<std::size_t> owned_;
  std::size_t dim_;
  tutti::kernels::RowOptimizer optimizer_;
  std::vector<tutti::kernels::TableMemory> memory_;
  std::vector<tutti::kernels::TableMemory> state_memory_;
  std::vector<tutti::kernels::EmbeddingTable> tables_;
  std::vector<float*> states_;
  tutti::kernels::EmbeddingWorkspace workspace_;
};

}  // namespace dlrm
