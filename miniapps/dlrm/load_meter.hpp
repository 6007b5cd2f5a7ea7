// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/embedding_collection.hpp>

namespace dlrm {

/// Counts lookups and distinct rows of this rank in some batches, to compare them with the plan's prediction.
class LoadMeter {
 public:
  /// Counts batches 1, 2, 4, 8, ... of those that it is shown, each between its lookups and its update. Local.
  void look(const tutti::EmbeddingCollection& tables, std::size_t slot);
  /// The means of what all ranks counted, beside the prediction; "" if there is nothing to compare. Collective over
  /// `comm`; blocking.
  [[nodiscard]] std::string text(const tutti::Communicator& comm, const tutti::ShardingPlan& plan) const;

 private:
  std::uint64_t batches_ = 0;
  std::uint64_t counted_ = 0;
  tutti::RankLoad sum_{};
};

}  // namespace dlrm
