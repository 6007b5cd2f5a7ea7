// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <tutti/communication_hook.hpp>
#include <vector>

namespace tutti::training {

class BlocksBucket;

/// Adds the gradients of all blocks of a batch (ReducerOptions::blocks), of which each rank has one or more, exactly. A
/// rounded sum over the samples of a rank changes with the number of ranks, but that over the samples of a block does
/// not. The ranks exchange parts of the buckets, each adds the blocks' numbers of its part with one rounding, and the
/// sums are gathered. A bucket has this rank's blocks in GradientBucket::earlier and data.
class BlocksHook final : public CommunicationHook {
 public:
  /// `blocks`: of all ranks together, at least one a rank.
  explicit BlocksHook(std::size_t blocks);
  ~BlocksHook() override;

  [[nodiscard]] std::string name() const override { return "blocks"; }
  void prepare(std::span<const Communicator> comms, std::span<const GradientBucket> buckets) override;
  void start(std::size_t bucket) override;
  bool test(std::size_t bucket) override;
  [[nodiscard]] std::size_t bytes(std::size_t bucket) const override;

 private:
  std::size_t blocks_;
  std::vector<std::unique_ptr<BlocksBucket>> buckets_{};
};

}  // namespace tutti::training
