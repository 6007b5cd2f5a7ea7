// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <tutti/kernels/embedding_bag.hpp>
#include <vector>

#include "training/embedding/batch_lookups.hpp"
#include "training/embedding/memory.hpp"
#include "training/embedding/vector_exchange.hpp"
#include "training/kernels/device/sample_rows.hpp"

namespace tutti::detail {

/// Assembles whole vectors for this rank's samples from the pieces that arrive, and divides their gradients among the
/// pieces. Vectors of a table that is whole on one rank are used where they arrive; the others are assembled here.
class SampleSide {
 public:
  SampleSide(const CollectionFacts& facts, VectorExchange& exchange);

  /// Finds the vectors and gradients again after a change of the exchange's batch.
  void connect();
  [[nodiscard]] const std::vector<kernels::Pooled<const float>>& vectors() const { return vectors_; }
  [[nodiscard]] const std::vector<kernels::Pooled<float>>& gradients() const { return gradients_; }
  /// Memory for the vectors that a replica looks up for this rank's samples: [slice][dim].
  [[nodiscard]] float* replica_vectors(std::size_t t) { return staged_[t].vectors.data(); }

  /// The numbers of indices by which the means of table t are divided, in the same kind of memory as the vectors; null
  /// if they are not divided.
  using CountsOf = std::function<const float*(std::size_t t)>;
  /// Assembles the vectors: columns side by side, pieces of rows added in their order, means divided.
  void assemble(const CountsOf& counts);
  /// Copies the gradients to where each piece's are sent from.
  void distribute(const CountsOf& counts);

 private:
  struct Staged {
    FloatMemory vectors;
    FloatMemory gradients;
  };
  void assemble_table(std::size_t t, const float* counts);
  void distribute_table(std::size_t t, const float* counts);
  [[nodiscard]] bool staged(std::size_t t) const { return !facts_->map.whole(t); }

  [[nodiscard]] kernels::RowsOrder order() const { return {facts_->on_device(), facts_->stream()}; }

  const CollectionFacts* facts_;
  VectorExchange* exchange_;
  std::size_t slice_ = 0;
  std::vector<Staged> staged_;  ///< one a table; empty if the table is whole on one rank
  std::vector<kernels::Pooled<const float>> vectors_;
  std::vector<kernels::Pooled<float>> gradients_;
};

}  // namespace tutti::detail
