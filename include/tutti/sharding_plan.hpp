// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/datatype.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/kernels/embedding_backward.hpp>
#include <tutti/kernels/embedding_bag.hpp>
#include <tutti/row_frequencies.hpp>
#include <tutti/table_rows.hpp>
#include <vector>

namespace tutti {

/// The ways to divide an embedding table over the ranks.
enum class Sharding : std::uint8_t {
  automatic,         ///< the planner chooses
  data_parallel,     ///< a replica on every rank, all updated alike
  table_wise,        ///< the whole table on one rank
  row_wise,          ///< rows on all ranks; the rank with the sample adds up the parts of its bag
  column_wise,       ///< blocks of columns on several ranks
  row_wise_on_node,  ///< rows on the ranks of one node
};

/// The order in which row-wise tables deal rows to R ranks. Counterpart: the distributions of HPF and ScaLAPACK.
enum class RowOrder : std::uint8_t {
  automatic,  ///< the planner chooses: blocks, unless the table's frequencies or lookup_shares make cyclic faster
  blocks,     ///< a block of neighboring rows on each rank
  cyclic,     ///< row r on rank r % R, so that no rank gets all rows of a hot neighborhood
};

/// The name in messages, plans and on command lines: "row-wise-on-node".
[[nodiscard]] TUTTI_EXPORT const char* sharding_name(Sharding sharding) noexcept;

/// The name in messages and on command lines: "cyclic".
[[nodiscard]] TUTTI_EXPORT const char* row_order_name(RowOrder order) noexcept;

/// One table of an EmbeddingCollection. Must be equal on all ranks.
struct EmbeddingTableConfig {
  std::string name{};  ///< the name in messages and checkpoints; must be unique
  std::int64_t rows = 0;
  std::size_t dim = 0;
  DatatypeKind type = DatatypeKind::float32;  ///< type of the rows, as in kernels::EmbeddingTable
  kernels::Pooling pooling = kernels::Pooling::sum;
  double mean_lookups = 1;  ///< mean number of indices per sample, for the planner
  Sharding sharding = Sharding::automatic;
  /// How often each of equally large blocks of the rows is looked up, in the order of the rows, for the planner: any
  /// numbers in that ratio, such as counts. Empty: all rows equally often.
  std::vector<double> lookup_shares{};
  RowOrder row_order = RowOrder::automatic;  ///< of a table that is divided by rows
  /// How often rows occur in the data, for the planner: which rows are hot, and how many are rare. Empty: all rows of a
  /// block of lookup_shares equally often. With both, lookup_shares say where the rows are that are not hot.
  RowFrequencies frequencies{};
};

/// A part of a table on a rank: every row_step-th of the rows [row_begin, row_end), in the columns [column_begin,
/// column_end).
struct TableShard {
  std::size_t table = 0;
  int rank = 0;
  std::int64_t row_begin = 0;
  std::int64_t row_end = 0;
  std::size_t column_begin = 0;
  std::size_t column_end = 0;
  std::int64_t row_step = 1;  ///< 1: a block of rows

  [[nodiscard]] TableRows table_rows() const { return {row_begin, row_end, row_step}; }
  [[nodiscard]] std::int64_t rows() const { return table_rows().size(); }
  [[nodiscard]] std::size_t columns() const { return column_end - column_begin; }
  friend bool operator==(const TableShard&, const TableShard&) = default;
};

/// The load that a plan puts on one rank.
struct RankLoad {
  std::size_t bytes = 0;        ///< size of rows and optimizer state, each array in whole blocks of 128 bytes
  double lookups = 0;           ///< number of rows read for a global batch, each as often as it is looked up
  double distinct_rows = 0;     ///< number of different rows updated for a global batch
  double lookup_seconds = 0;    ///< predicted time of a step's lookups and updates
  double exchange_seconds = 0;  ///< predicted time of a step's exchanges of vectors and gradients
};

struct PlannerOptions {
  std::size_t batch = 1;         ///< samples in a global batch
  std::size_t memory_limit = 0;  ///< largest size of rows and optimizer state on a rank, in bytes; 0: no limit
  kernels::RowOptimizer optimizer = kernels::RowOptimizer::sgd;
  DatatypeKind exchange_type = DatatypeKind::float32;  ///< as EmbeddingCollectionOptions::exchange_type
};

/// The machine as the planner sees it. plan_sharding() finds it for a communicator; you can also plan for any other.
struct PlannerFacts {
  std::vector<int> node_of{0};       ///< the node of each rank
  double row_bytes_rate = 12e9;      ///< rate at which one rank looks up random rows, in bytes per second
  double seconds_per_lookup = 5e-9;  ///< time of each index, beside its row's bytes
  double exchange_latency = 0;       ///< time of an exchange with one other rank, beside its bytes, in seconds
  double exchange_rate = 8e9;        ///< rate at which a rank sends or receives, in bytes per second
};

/// Says which rank has which part of which table. Must be equal on all ranks. Make it with plan_sharding() or by hand.
struct TUTTI_EXPORT ShardingPlan {
  int ranks = 0;
  std::vector<std::string> names;    ///< names of the tables
  std::vector<Sharding> shardings;   ///< one a table; never automatic in a finished plan
  std::vector<TableShard> shards;    ///< sorted by table, rank, row and column; none is empty
  std::vector<RankLoad> prediction;  ///< one a rank; empty for a plan made by hand

  /// The predicted time of the slowest rank's lookups and exchanges, in seconds a step.
  [[nodiscard]] double seconds() const;
  /// The plan and its prediction as two tables, and the load of the most loaded rank relative to the mean.
  [[nodiscard]] std::string text() const;
  /// Throws Error(invalid_argument), naming the table, if the shards do not cover it exactly once (data_parallel: once
  /// on each rank), are on ranks that do not exist, or divide bags that are pooled by max.
  void validate(std::span<const EmbeddingTableConfig> tables) const;
};

/// Divides tables over ranks so that the step of the slowest rank is short, as predicted by a model of lookups and of
/// the two exchanges. Tables in order of falling cost go to the rank that finishes first; then, as long as the
/// prediction improves, a table of the slowest rank is divided by columns or rows, or replicated. A table whose
/// sharding or row_order is not automatic keeps it. A pure function. Errors: invalid_argument for impossible tables,
/// lookup_shares, frequencies or options, and for a memory limit that cannot be met, which names the table, the bytes
/// and the remedy. Counterpart: torchrec's EmbeddingShardingPlanner.
[[nodiscard]] TUTTI_EXPORT ShardingPlan plan_sharding(const PlannerFacts& facts,
                                                      std::span<const EmbeddingTableConfig> tables,
                                                      const PlannerOptions& options);

/// Does the same for the ranks of a communicator, with its nodes and the rates of the cost model's links. Collective
/// over `comm`; blocking. Errors, on all ranks alike: as above, and mismatch if ranks pass different tables or options.
[[nodiscard]] TUTTI_EXPORT ShardingPlan plan_sharding(const Communicator& comm,
                                                      std::span<const EmbeddingTableConfig> tables,
                                                      const PlannerOptions& options);

}  // namespace tutti
