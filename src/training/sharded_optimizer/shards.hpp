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

/// An optimizer's state, divided over the ranks: each rank has the state for its part of each bucket. The state of a
/// parameter is `values` blocks, each with the type and the number of the parameter's elements; types do not matter
/// here.
class Shards {
 public:
  struct Shard {
    Segment segment{};
    std::vector<std::byte> state{};  ///< `values` blocks of the segment's elements
  };

  Shards(const Communicator& comm, std::size_t values) : comm_(&comm), values_(values) {}

  [[nodiscard]] bool is_empty() const { return partition_ == nullptr; }
  [[nodiscard]] std::size_t values() const { return values_; }
  [[nodiscard]] const std::shared_ptr<const Partition>& partition() const { return partition_; }
  [[nodiscard]] std::vector<Shard>& of_bucket(std::size_t bucket) { return shards_[bucket]; }
  [[nodiscard]] std::size_t bytes() const;

  /// Divides the state in another way; new state is zero. Collective if there is state; blocking.
  void divide(std::shared_ptr<const Partition> partition);
  /// The whole state, by parameter. Collective; blocking.
  [[nodiscard]] std::vector<std::vector<std::byte>> gather(std::size_t parameters) const;
  /// Takes this rank's shards from the whole state. Local.
  void take(const std::vector<std::vector<std::byte>>& whole);

 private:
  using Visitor = std::function<void(const BucketPartition&, const BucketEntry&, std::size_t, const std::byte*)>;
  /// Calls visit(bucket, entry, block, elements) for every block of every entry.
  void gather_each(const Visitor& visit) const;
  void gather_block(std::size_t bucket, std::size_t block, std::span<std::byte> flat) const;

  const Communicator* comm_;
  std::size_t values_;
  std::shared_ptr<const Partition> partition_{};
  std::vector<std::vector<Shard>> shards_{};
};

/// Gathers all ranks' parts of a bucket on every rank, in place in `flat`. Nonblocking.
[[nodiscard]] Request gather_parts(const Communicator& comm, const BucketPartition& bucket, void* flat);

}  // namespace tutti::training
