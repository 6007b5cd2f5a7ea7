// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/embedding_collection.hpp>
#include <tutti/sharding_plan.hpp>
#include <vector>

#include "collectives/services.hpp"
#include "training/embedding/piece_map.hpp"

namespace tutti::detail {

/// The constant facts of a collection, which all of its parts read.
struct CollectionFacts {
  std::vector<EmbeddingTableConfig> tables;
  ShardingPlan plan;
  EmbeddingCollectionOptions options;
  PieceMap map;
  int rank = 0;
  int ranks = 1;
  int device = -1;         ///< the device that holds the rows; -1: the host does
  bool registers = false;  ///< what the ranks exchange on a device is in memory that NCCL registers

  [[nodiscard]] bool on_device() const { return options.memory == MemoryKind::device; }
  /// Whether a rank with so many bytes of rows and state has them in files, and caches of them in memory.
  [[nodiscard]] bool caches(std::size_t bytes) const {
    return options.table_memory > 0 && bytes > options.table_memory;
  }
  [[nodiscard]] void* stream() const { return options.stream.handle; }
  [[nodiscard]] const std::vector<Piece>& pieces() const { return map.of_rank(rank); }
  [[nodiscard]] SampleSlice slice(std::size_t batch) const { return sample_slice(batch, rank, ranks); }
  /// Whether the samples' rank divides the sums of table t by the numbers of indices: no rank with rows sees them all.
  [[nodiscard]] bool divides_mean(std::size_t t) const {
    return tables[t].pooling == kernels::Pooling::mean && map.rows_divided(t);
  }
  [[nodiscard]] bool needs(std::size_t t) const { return divides_mean(t) || map.on_rank(t, rank); }
  /// Whether the pieces of table t must exchange their sums of squares: row-wise state needs whole rows.
  [[nodiscard]] bool shares_squares(std::size_t t) const {
    return options.optimizer == kernels::RowOptimizer::row_wise_adagrad && !map.replicated(t) && map.columns_divided(t);
  }
};

/// Bytes of the rows and state of rank r.
[[nodiscard]] std::size_t bytes_of_rank(const CollectionFacts& facts, int r);

/// Checks the arguments of a collection and makes its facts. Errors, on all ranks alike: mismatch where ranks pass
/// different arguments; invalid_argument, invalid_datatype, not_built, not_supported. Collective; blocking.
[[nodiscard]] CollectionFacts agree_on_facts(const Communicator& comm, std::span<const EmbeddingTableConfig> tables,
                                             ShardingPlan plan, const EmbeddingCollectionOptions& options);

/// Adds the tables' configurations to a hash of arguments that ranks must pass alike.
void add_tables(Hash& hash, std::span<const EmbeddingTableConfig> tables);

/// Throws Error(mismatch) on all ranks if the hash differs between any two; `what` names the arguments. Collective;
/// blocking.
void check_alike(const Communicator& comm, const Hash& hash, const std::string& what);

}  // namespace tutti::detail
