// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <tutti/communicator.hpp>
#include <tutti/request.hpp>
#include <vector>

#include "training/embedding/batch_bags.hpp"

namespace tutti::detail {

/// InputLayout::local: brings the bags of this rank's samples to the ranks that have the rows. Three alltoallv, the
/// next one started when the last one has arrived: lengths, indices and, where the collection is weighted, factors.
class InputExchange {
 public:
  explicit InputExchange(const CollectionFacts& facts);

  /// Sorts the bags by receiver. The input is without fault. Local.
  void pack(const EmbeddingInput& input);
  [[nodiscard]] Request start_lengths(const Communicator& comm);
  [[nodiscard]] Request start_indices(const Communicator& comm);
  [[nodiscard]] Request start_weights(const Communicator& comm);
  /// What has arrived, by piece. The bags live here. Local.
  void unpack(BatchBags& bags);

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
  struct Arrived {
    std::vector<std::int64_t> offsets;
    std::vector<std::byte> indices;
    std::vector<float> weights;
  };
  void count_arriving();

  const CollectionFacts* facts_;
  std::size_t batch_ = 0;
  kernels::IndexType type_ = kernels::IndexType::int64;
  SelectedBags sent_;
  Counts sent_lengths_;
  Counts sent_indices_;
  Counts arriving_lengths_;
  Counts arriving_indices_;
  std::vector<std::int32_t> lengths_;
  std::vector<std::byte> indices_;
  std::vector<float> weights_;
  std::vector<Arrived> arrived_;  ///< one a piece
};

}  // namespace tutti::detail
