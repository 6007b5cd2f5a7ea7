// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <tutti/communicator.hpp>
#include <tutti/request.hpp>
#include <vector>

#include "training/hooks/partition.hpp"

namespace tutti::training {

/// An optimizer's state, of which each rank has what belongs to its part of each bucket. Types do not matter here:
/// state of a parameter has the parameter's type, `values` blocks of the parameter's values.
class Shards {
 public:
  struct Shard {
    Segment segment{};
    std::vector<std::byte> state{};  ///< `values` blocks of the segment's values
  };

  Shards(const Communicator& comm, std::size_t values) : comm_(&comm), values_(values) {}

  [[nodiscard]] bool is_empty() const { return partition_ == nullptr; }
  [[nodiscard]] std::size_t values() const { return values_; }
  [[nodiscard]] const std::shared_ptr<const Partition>& partition() const { return partition_; }
  [[nodiscard]] std::vector<Shard>& of_bucket(std::size_t bucket) { return shards_[bucket]; }
  [[nodiscard]] std::size_t bytes() const;

  /// Divides the state anew; it is zero at first. Collective where there is state, blocking.
  void divide(std::shared_ptr<const Partition> partition);
  /// The whole state by parameter. Collective, blocking.
  [[nodiscard]] std::vector<std::vector<std::byte>> gather(std::size_t parameters) const;
  /// Takes this rank's shards from the whole state. Local.
  void take(const std::vector<std::vector<std::byte>>& whole);

 private:
  using Visitor = std::function<void(const BucketPartition&, const BucketEntry&, std::size_t, const std::byte*)>;
  /// visit(bucket, entry, block, the entry's values of this block) for all of the state.
  void gather_each(const Visitor& visit) const;
  void gather_block(std::size_t bucket, std::size_t block, std::span<std::byte> flat) const;

  const Communicator* comm_;
  std::size_t values_;
  std::shared_ptr<const Partition> partition_{};
  std::vector<std::vector<Shard>> shards_{};
};

/// Every rank's part of a bucket to all, in place in `flat`. Nonblocking.
[[nodiscard]] Request gather_parts(const Communicator& comm, const BucketPartition& bucket, void* flat);

}  // namespace tutti::training
