// SPDX-License-Identifier: BSD-3-Clause
#include "training/hooks/sharding_hook.hpp"

#include <tutti/collectives/reduce_scatter.hpp>
#include <tutti/collectives/reduce_scatter_block.hpp>
#include <tutti/sharded_optimizer.hpp>

#include "collectives/services.hpp"

namespace tutti {

namespace training {

void ShardingHook::prepare(std::span<const Communicator> comms, std::span<const GradientBucket> buckets) {
  comms_ = comms;
  buckets_ = buckets;
  const int rank = comms[0].rank();
  prepared_ = std::make_shared<const Partition>(partition_of(buckets, comms[0].size()));
  running_.clear();
  running_.resize(buckets.size());
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    const BucketPartition& divided = (*prepared_)[b];
    running_[b].result.resize((divided.end(rank) - divided.begin(rank)) * buckets[b].data.type.size());
  }
}

void ShardingHook::start(std::size_t bucket) {
  reduced_ = prepared_;
  const GradientBucket& b = buckets_[bucket];
  const Communicator& comm = comm_of(bucket);
  const BucketPartition& divided = (*prepared_)[bucket];
  Running& running = running_[bucket];
  const Buffer result(running.result.data(), running.result.size() / b.data.type.size(), b.data.type, MemoryKind::host);
  if (divided.is_uniform(comm.size()))
    running.request = ireduce_scatter_block(comm, b.data, result, b.op);
  else
    running.request = ireduce_scatter(comm, b.data, result, divided.counts(comm.size()), b.op);
  running.is_placed = false;
}

bool ShardingHook::test(std::size_t bucket) {
  Running& running = running_[bucket];
  if (!running.request.test()) return false;
  if (running.is_placed) return true;
  const GradientBucket& b = buckets_[bucket];
  const std::size_t begin = (*prepared_)[bucket].begin(comm_of(bucket).rank());
  if (!running.result.empty())
    kernels::copy(static_cast<std::byte*>(b.data.data) + begin * b.data.type.size(), running.result.data(),
                  running.result.size());
  running.is_placed = true;
  return true;
}

std::size_t ShardingHook::bytes(std::size_t bucket) const {
  return buckets_[bucket].data.count * buckets_[bucket].data.type.size();
}

}  // namespace training

std::shared_ptr<CommunicationHook> sharding_hook() { return std::make_shared<training::ShardingHook>(); }

}  // namespace tutti
