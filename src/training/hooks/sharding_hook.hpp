// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <tutti/communication_hook.hpp>
#include <tutti/request.hpp>
#include <vector>

#include "training/hooks/partition.hpp"

namespace tutti::training {

/// One nonblocking reduce_scatter a bucket. Buckets may be made anew after a step whose results are still to be used,
/// so the hook remembers how the last step was divided.
class ShardingHook final : public CommunicationHook {
 public:
  [[nodiscard]] std::string name() const override { return "sharding"; }
  void prepare(std::span<const Communicator> comms, std::span<const GradientBucket> buckets) override;
  void start(std::size_t bucket) override;
  bool test(std::size_t bucket) override;
  [[nodiscard]] std::size_t bytes(std::size_t bucket) const override;
  [[nodiscard]] bool replicates() const override { return false; }

  /// Of the buckets as they are; null before prepare().
  [[nodiscard]] const std::shared_ptr<const Partition>& prepared() const { return prepared_; }
  /// Of the last step; null before the first.
  [[nodiscard]] const std::shared_ptr<const Partition>& reduced() const { return reduced_; }

 private:
  struct Running {
    std::vector<std::byte> result{};  ///< of this rank's part
    Request request{};
    bool is_placed = true;
  };
  [[nodiscard]] const Communicator& comm_of(std::size_t bucket) const { return comms_[bucket % comms_.size()]; }

  std::span<const Communicator> comms_{};
  std::span<const GradientBucket> buckets_{};
  std::vector<Running> running_{};
  std::shared_ptr<const Partition> prepared_{};
  std::shared_ptr<const Partition> reduced_{};
};

}  // namespace tutti::training
