// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <tutti/communicator.hpp>
#include <tutti/request.hpp>
#include <vector>

#include "training/embedding/batch_lookups.hpp"

namespace tutti::detail {

/// InputLayout::local: sends the bags of this rank's samples to the ranks that hold the rows, in three alltoallv, each
/// started when the one before has arrived: lengths, indices and, if the collection is weighted, weights.
class InputExchange {
 public:
  explicit InputExchange(const CollectionFacts& facts);

  /// Selects the bags for each receiver from an input without fault. Local.
  void pack(const EmbeddingInput& input);
  [[nodiscard]] Request start_lengths(const Communicator& comm);
  [[nodiscard]] Request start_indices(const Communicator& comm);
  [[nodiscard]] Request start_weights(const Communicator& comm);
  /// Sorts the arrived bags by piece, and sets them in `lookups`, which refers to memory of this object. Local.
  void unpack(BatchLookups& lookups);

 private:
  struct Counts {
    std::vector<std::size_t> sizes;
    std::vector<std::size_t> begins;
    std::size_t total = 0;
    void resize(std::size_t ranks) {
      sizes.assign(ranks, 0);
      begins.assign(ranks, 0);
    }
    void place();
  };
  void count_arriving();

  const CollectionFacts* facts_;
  std::size_t batch_ = 0;
  kernels::IndexType type_ = kernels::IndexType::int64;
  OwnedLookups sent_;
  Counts sent_lengths_;
  Counts sent_indices_;
  Counts arriving_lengths_;
  Counts arriving_indices_;
  std::vector<std::int32_t> lengths_;
  std::vector<std::byte> indices_;
  std::vector<float> weights_;
  std::vector<OwnedLookups> arrived_;  ///< one a piece
};

}  // namespace tutti::detail
