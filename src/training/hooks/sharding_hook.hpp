// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <tutti/communication_hook.hpp>
#include <tutti/request.hpp>
#include <vector>

#include "training/hooks/partition.hpp"

namespace tutti::training {

/// Starts one nonblocking reduce_scatter for each bucket. The buckets may be laid out again while the results of the
/// last step are still in use, so the hook remembers how that step was divided.
class ShardingHook final : public CommunicationHook {
 public:
  [[nodiscard]] std::string name() const override { return "sharding"; }
  void prepare(std::span<const Communicator> comms, std::span<const GradientBucket> buckets) override;
  void start(std::size_t bucket) override;
  bool test(std::size_t bucket) override;
  [[nodiscard]] std::size_t bytes(std::size_t bucket) const override;
  [[nodiscard]] bool replicates() const override { return false; }

  /// How the current buckets are divided; null before prepare().
  [[nodiscard]] const std::shared_ptr<const Partition>& prepared() const { return prepared_; }
  /// How the buckets of the last step were divided; null before the first.
  [[nodiscard]] const std::shared_ptr<const Partition>& reduced() const { return reduced_; }

 private:
  struct Running {
    std::vector<std::byte> result{};  ///< this rank's part
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
