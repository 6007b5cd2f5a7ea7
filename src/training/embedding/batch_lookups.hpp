// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <tutti/embedding_collection.hpp>
#include <tutti/error.hpp>
#include <vector>

#include "training/embedding/collection_facts.hpp"
#include "training/embedding/lookup_selection.hpp"

namespace tutti::detail {

/// A batch that a rank cannot look up, and why.
struct Fault {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string text;
};

/// Checks whether an input fits the collection: its shapes, and its indices if the policy is fatal. Local.
[[nodiscard]] std::optional<Fault> find_fault(const CollectionFacts& facts, const EmbeddingInput& input);

/// The lookups of one batch as the kernels take them: for each of this rank's pieces the bags of all samples, with
/// indices that are in range and places of the piece's rows; for replicas and divided means also the bags of
/// this rank's own samples.
class BatchLookups {
 public:
  explicit BatchLookups(const CollectionFacts& facts);

  /// InputLayout::global: takes everything from an input without fault. Refers to its memory where no index changes.
  void take_global(const EmbeddingInput& input);
  /// InputLayout::local: takes the part for this rank's own samples.
  void take_own(const EmbeddingInput& input, std::size_t first_bag);
  /// InputLayout::local: sets the bags of all samples for piece i, as they were exchanged. Their memory outlives their
  /// use.
  void set_all(std::size_t i, const kernels::TableLookups& lookups) { all_[i] = lookups; }
  void set_type(kernels::IndexType type) { type_ = type; }

  [[nodiscard]] kernels::IndexType type() const { return type_; }
  /// For piece i: the bags of all samples of the batch.
  [[nodiscard]] const kernels::TableLookups& all(std::size_t i) const { return all_[i]; }
  /// For replica i: the bags of this rank's samples.
  [[nodiscard]] const kernels::TableLookups& own(std::size_t i) const { return own_[i]; }
  /// The number of indices in each own sample's bag of table t, at least 1; empty unless the rank divides means.
  [[nodiscard]] const std::vector<float>& counts(std::size_t t) const { return counts_[t]; }

 private:
  kernels::TableLookups select(const kernels::TableLookups& from, const LookupSelection& selection,
                               OwnedLookups& to) const;
  [[nodiscard]] LookupSelection selection(std::size_t table, const TableRows& kept) const;
  void count(const kernels::TableLookups& from, std::size_t t, std::size_t first_bag, std::size_t bags);

  const CollectionFacts* facts_;
  kernels::IndexType type_ = kernels::IndexType::int64;
  std::vector<kernels::TableLookups> all_;
  std::vector<kernels::TableLookups> own_;
  std::vector<OwnedLookups> selected_all_;  ///< the memory of all_, where it does not refer to the input
  std::vector<OwnedLookups> selected_own_;  ///< the memory of own_, likewise
  OwnedLookups counted_;
  std::vector<std::vector<float>> counts_;
};

}  // namespace tutti::detail
