// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <tutti/embedding_collection.hpp>
#include <tutti/error.hpp>
#include <vector>

#include "training/embedding/bag_selection.hpp"
#include "training/embedding/piece_map.hpp"

namespace tutti::detail {

/// What all parts of a collection know.
struct CollectionFacts {
  std::vector<EmbeddingTableConfig> tables;
  ShardingPlan plan;
  EmbeddingCollectionOptions options;
  PieceMap map;
  int rank = 0;
  int ranks = 1;
  int device = -1;  ///< where the rows are on one

  [[nodiscard]] bool on_device() const { return options.memory == MemoryKind::device; }
  [[nodiscard]] void* stream() const { return options.stream.handle; }
  [[nodiscard]] const std::vector<Piece>& pieces() const { return map.of_rank(rank); }
  [[nodiscard]] SampleSlice slice(std::size_t batch) const { return sample_slice(batch, rank, ranks); }
  /// The samples' rank divides sums by the numbers of indices, since no other rank has them all.
  [[nodiscard]] bool divides_mean(std::size_t t) const {
    return tables[t].pooling == kernels::Pooling::mean && map.rows_divided(t);
  }
  [[nodiscard]] bool needs(std::size_t t) const { return divides_mean(t) || map.on_rank(t, rank); }
};

/// What is wrong with a batch.
struct InputFault {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string text;
};

/// Whether an input fits the collection: shapes, and indices where the policy is fatal. Local.
[[nodiscard]] std::optional<InputFault> find_fault(const CollectionFacts& facts, const EmbeddingInput& input);

/// The bags of one batch as the kernels want them: for each of this rank's pieces those of all samples, with indices
/// that are in range and count from the piece's first row; and what is needed of this rank's own samples.
class BatchBags {
 public:
  explicit BatchBags(const CollectionFacts& facts);

  /// InputLayout::global: points into the input where it can. The input is without fault.
  void take_global(const EmbeddingInput& input);
  /// InputLayout::local: what concerns this rank's own samples.
  void take_own(const EmbeddingInput& input, std::size_t first_bag);
  /// InputLayout::local: one piece's bags of all samples, as exchanged. `bags` stays valid as long as they are used.
  void set_piece(std::size_t i, const kernels::TableLookups& bags) { all_[i] = bags; }
  void set_type(kernels::IndexType type) { type_ = type; }

  [[nodiscard]] kernels::IndexType type() const { return type_; }
  /// Of piece i, all samples of the batch.
  [[nodiscard]] const kernels::TableLookups& all(std::size_t i) const { return all_[i]; }
  /// Of replica i, this rank's samples.
  [[nodiscard]] const kernels::TableLookups& own(std::size_t i) const { return own_[i]; }
  /// Indices in each own sample's bag of table t, at least 1; empty where the rank does not divide means.
  [[nodiscard]] const std::vector<float>& counts(std::size_t t) const { return counts_[t]; }

 private:
  struct Kept {
    SelectedBags bags;
    std::vector<std::int64_t> offsets;
  };
  kernels::TableLookups keep(Kept& kept, const kernels::TableLookups& from, const BagSelection& selection) const;
  [[nodiscard]] BagSelection selection(std::size_t table, std::int64_t row_begin, std::int64_t row_end) const;
  void count(const kernels::TableLookups& from, std::size_t t, std::size_t first_bag, std::size_t bags);

  const CollectionFacts* facts_;
  kernels::IndexType type_ = kernels::IndexType::int64;
  std::vector<kernels::TableLookups> all_;
  std::vector<kernels::TableLookups> own_;
  std::vector<Kept> kept_;      ///< one a piece
  std::vector<Kept> kept_own_;  ///< one a piece
  SelectedBags counted_;
  std::vector<std::vector<float>> counts_;
};

}  // namespace tutti::detail
