// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <tutti/kernels/embedding_bag.hpp>
#include <vector>

#include "training/embedding/batch_bags.hpp"
#include "training/embedding/float_memory.hpp"
#include "training/embedding/sample_rows.hpp"
#include "training/embedding/vector_exchange.hpp"

namespace tutti::detail {

/// Whole vectors of this rank's samples out of the pieces that arrive, and gradients for the pieces. A table that is
/// whole on one rank is seen where it arrives; the others are put together here.
class SampleSide {
 public:
  SampleSide(const CollectionFacts& facts, VectorExchange& exchange);

  /// After a change of the exchange's batch.
  void connect();
  [[nodiscard]] const std::vector<kernels::Pooled<const float>>& vectors() const { return vectors_; }
  [[nodiscard]] const std::vector<kernels::Pooled<float>>& gradients() const { return gradients_; }
  /// Where the vectors of a replica's own samples go: [slice][dim].
  [[nodiscard]] float* replica_vectors(std::size_t t) { return staged_[t].vectors.data(); }

  /// Numbers of indices that a table's means are divided by, in the memory of the vectors; null for none.
  using CountsOf = std::function<const float*(std::size_t t)>;
  /// Puts the pieces together: columns side by side, rows added in their order, means divided.
  void assemble(const CountsOf& counts);
  /// Copies the gradients to the blocks of all pieces.
  void distribute(const CountsOf& counts);

 private:
  struct Staged {
    FloatMemory vectors;
    FloatMemory gradients;
  };
  void assemble_table(std::size_t t, const float* counts);
  void distribute_table(std::size_t t, const float* counts);
  [[nodiscard]] bool staged(std::size_t t) const { return !facts_->map.whole(t); }

  [[nodiscard]] RowsOrder order() const { return {facts_->on_device(), facts_->stream()}; }

  const CollectionFacts* facts_;
  VectorExchange* exchange_;
  std::size_t slice_ = 0;
  std::vector<Staged> staged_;  ///< one a table; empty for those that are whole
  std::vector<kernels::Pooled<const float>> vectors_;
  std::vector<kernels::Pooled<float>> gradients_;
};

}  // namespace tutti::detail
