// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/sharding_plan.hpp>
#include <vector>

#include "training/embedding/row_access.hpp"

namespace tutti::detail {

/// The arrays of a shard, which lie behind one another in the memory of its rank.
struct ShardArrays {
  /// Every array begins at a multiple of this many bytes: two cache lines, which the processor fetches together, and
  /// what a device moves at once.
  static constexpr std::size_t alignment = 128;

  std::size_t rows = 0;    ///< bytes, as all
  std::size_t scales = 0;  ///< 0: none
  std::size_t state = 0;   ///< 0: none
  [[nodiscard]] std::size_t bytes() const { return rows + scales + state; }
};

/// The arrays of `rows` rows with `columns` columns, each with its padding.
[[nodiscard]] ShardArrays shard_arrays(const EmbeddingTableConfig& table, std::int64_t rows, std::size_t columns,
                                       kernels::RowOptimizer optimizer);

/// Throws Error(invalid_argument), in the name of `call`, unless vectors may travel in this type.
void check_exchange_type(DatatypeKind type, const char* call);

/// Predicts the cost of shards: reading rows at random, and exchanging vectors among all ranks twice a step.
class PlanCost {
 public:
  PlanCost(const PlannerFacts& facts, std::span<const EmbeddingTableConfig> tables, const PlannerOptions& options);

  [[nodiscard]] const PlannerFacts& facts() const { return *facts_; }
  [[nodiscard]] std::span<const EmbeddingTableConfig> tables() const { return tables_; }
  [[nodiscard]] const PlannerOptions& options() const { return *options_; }
  [[nodiscard]] std::size_t bytes(const TableShard& shard) const;
  /// Seconds that a shard adds to its rank, to place shards one by one.
  [[nodiscard]] double shard_seconds(const TableShard& shard, Sharding sharding) const;
  /// The loads of all ranks under a whole plan.
  [[nodiscard]] std::vector<RankLoad> loads(const ShardingPlan& plan) const;

 private:
  /// Bytes of a value that travels.
  [[nodiscard]] std::size_t value_bytes() const { return Datatype(options_->exchange_type).size(); }
  [[nodiscard]] double ranks() const { return static_cast<double>(facts_->node_of.size()); }
  [[nodiscard]] RowLoad load(const TableShard& shard) const { return access_[shard.table].load(shard.table_rows()); }
  [[nodiscard]] double lookup_seconds(const TableShard& shard, Sharding sharding) const;
  /// Seconds to assemble vectors, and to divide gradients, on the samples' ranks.
  [[nodiscard]] double assembly_seconds(const TableShard& shard, Sharding sharding) const;
  [[nodiscard]] double exchange_seconds(double own_width, double own_gradient_width, double width,
                                        double gradient_width) const;

  const PlannerFacts* facts_;
  std::span<const EmbeddingTableConfig> tables_;
  const PlannerOptions* options_;
  std::vector<RowAccess> access_{};  ///< one a table
};

}  // namespace tutti::detail
