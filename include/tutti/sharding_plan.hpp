// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/datatype.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/kernels/embedding_backward.hpp>
#include <tutti/kernels/embedding_bag.hpp>
#include <vector>

namespace tutti {

/// How an embedding table is divided over the ranks.
enum class Sharding : std::uint8_t {
  automatic,         ///< the planner's choice
  data_parallel,     ///< a replica on every rank, all updated alike
  table_wise,        ///< whole, on one rank
  row_wise,          ///< blocks of rows on all ranks; parts of a bag are added up where its sample is
  column_wise,       ///< blocks of columns on several ranks
  row_wise_on_node,  ///< blocks of rows on the ranks of one node
};

/// The name as it is written in messages, plans and on command lines: "row-wise-on-node".
[[nodiscard]] TUTTI_EXPORT const char* sharding_name(Sharding sharding) noexcept;

/// One table of an EmbeddingCollection. Equal on all ranks.
struct EmbeddingTableConfig {
  std::string name{};  ///< in messages and checkpoints; unlike the others'
  std::int64_t rows = 0;
  std::size_t dim = 0;
  DatatypeKind type = DatatypeKind::float32;  ///< of the rows, as kernels::EmbeddingTable takes it
  kernels::Pooling pooling = kernels::Pooling::sum;
  double mean_lookups = 1;  ///< indices a sample, for the planner
  Sharding sharding = Sharding::automatic;
};

/// A block of a table on a rank: rows [row_begin, row_end) of columns [column_begin, column_end).
struct TableShard {
  std::size_t table = 0;
  int rank = 0;
  std::int64_t row_begin = 0;
  std::int64_t row_end = 0;
  std::size_t column_begin = 0;
  std::size_t column_end = 0;

  [[nodiscard]] std::int64_t rows() const { return row_end - row_begin; }
  [[nodiscard]] std::size_t columns() const { return column_end - column_begin; }
  friend bool operator==(const TableShard&, const TableShard&) = default;
};

/// What a plan asks of one rank.
struct RankLoad {
  std::size_t bytes = 0;        ///< rows and optimizer state
  double lookups = 0;           ///< rows read for a global batch
  double lookup_seconds = 0;    ///< predicted for a step, forward and update
  double exchange_seconds = 0;  ///< predicted for a step, vectors there and gradients back
};

struct PlannerOptions {
  std::size_t batch = 1;         ///< samples of a global batch
  std::size_t memory_limit = 0;  ///< bytes of rows and optimizer state a rank; 0: none
  kernels::RowOptimizer optimizer = kernels::RowOptimizer::sgd;
};

/// The machine as the planner sees it. plan_sharding fills it from a communicator; any other may be planned for too.
struct PlannerFacts {
  std::vector<int> node_of{0};       ///< the node of each rank
  double row_bytes_rate = 12e9;      ///< bytes a second of rows looked up at random, one rank
  double seconds_per_lookup = 5e-9;  ///< of an index, beside its row's bytes
  double exchange_latency = 0;       ///< seconds of an exchange with one other rank, but for its bytes
  double exchange_rate = 8e9;        ///< bytes a second that a rank sends or receives
};

/// Which rank has which part of which table. Equal on all ranks; made by plan_sharding or by hand.
struct TUTTI_EXPORT ShardingPlan {
  int ranks = 0;
  std::vector<std::string> names;    ///< of the tables
  std::vector<Sharding> shardings;   ///< one a table; never automatic in a finished plan
  std::vector<TableShard> shards;    ///< by table, then rank, row and column; no empty ones
  std::vector<RankLoad> prediction;  ///< one a rank; empty for a plan made by hand

  /// The predicted time of the slowest rank's lookups and exchanges, in seconds a step.
  [[nodiscard]] double seconds() const;
  /// The plan and its prediction as two tables.
  [[nodiscard]] std::string text() const;
  /// Throws Error(invalid_argument), naming the table, where the shards do not cover it exactly once (data_parallel:
  /// once on each rank), lie on ranks that do not exist, or divide bags that are pooled by max.
  void validate(std::span<const EmbeddingTableConfig> tables) const;
};

/// Divides tables over ranks so that the slowest rank's step is short, by a model of lookups and of the two exchanges:
/// tables in order of falling cost go to the rank that ends first; then, as long as the prediction gets better, a table
/// of the slowest rank is divided by columns or rows, or replicated. A pure function. Tables with another sharding than
/// automatic keep it. Errors: invalid_argument for impossible tables, and for a memory limit that cannot be met: it
/// names the table, the bytes and the remedy. Counterpart: torchrec's EmbeddingShardingPlanner.
[[nodiscard]] TUTTI_EXPORT ShardingPlan plan_sharding(const PlannerFacts& facts,
                                                      std::span<const EmbeddingTableConfig> tables,
                                                      const PlannerOptions& options);

/// The same for the ranks of a communicator: its nodes, with rates of the cost model's links. Collective over `comm`;
/// blocking. Errors, on all ranks alike: mismatch where ranks pass different tables or options; as above.
[[nodiscard]] TUTTI_EXPORT ShardingPlan plan_sharding(const Communicator& comm,
                                                      std::span<const EmbeddingTableConfig> tables,
                                                      const PlannerOptions& options);

}  // namespace tutti
