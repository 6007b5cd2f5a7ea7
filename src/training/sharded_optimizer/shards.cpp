// SPDX-License-Identifier: BSD-3-Clause
#include "training/sharded_optimizer/shards.hpp"

#include <map>
#include <tutti/collectives/allgather.hpp>
#include <tutti/collectives/allgatherv.hpp>
#include <utility>

#include "collectives/services.hpp"

namespace tutti::training {

namespace {

std::size_t value_bytes(const BucketPartition& bucket) { return Datatype(bucket.type).size(); }

std::vector<std::vector<Shards::Shard>> empty_shards(const Partition& partition, int rank, std::size_t values) {
  std::vector<std::vector<Shards::Shard>> shards;
  for (const BucketPartition& bucket : partition) {
    auto& own = shards.emplace_back();
    for (const Segment& segment : bucket.segments(rank))
      own.push_back({segment, std::vector<std::byte>(values * segment.count * value_bytes(bucket))});
  }
  return shards;
}

}  // namespace

Request gather_parts(const Communicator& comm, const BucketPartition& bucket, void* flat) {
  const Buffer all(flat, bucket.count, bucket.type, MemoryKind::host);
  if (bucket.is_uniform(comm.size())) return iallgather(comm, in_place, all);
  return iallgatherv(comm, in_place, all, bucket.counts(comm.size()), bucket.displs(comm.size()));
}

std::size_t Shards::bytes() const {
  std::size_t total = 0;
  for (const auto& bucket : shards_)
    for (const Shard& shard : bucket) total += shard.state.size();
  return total;
}

void Shards::divide(std::shared_ptr<const Partition> partition) {
  auto made = empty_shards(*partition, comm_->rank(), values_);
  if (!is_empty() && values_ > 0) {
    std::map<std::size_t, Shard*> places;
    for (auto& bucket : made)
      for (Shard& shard : bucket) places[shard.segment.parameter] = &shard;
    gather_each([&](const BucketPartition& bucket, const BucketEntry& entry, std::size_t block, const std::byte* from) {
      const auto place = places.find(entry.parameter);
      if (place == places.end()) return;
      Shard& shard = *place->second;
      const std::size_t size = value_bytes(bucket);
      const std::size_t length = shard.segment.count * size;
      kernels::copy(shard.state.data() + block * length, from + shard.segment.begin * size, length);
    });
  }
  shards_ = std::move(made);
  partition_ = std::move(partition);
}

void Shards::gather_block(std::size_t bucket, std::size_t block, std::span<std::byte> flat) const {
  const BucketPartition& divided = (*partition_)[bucket];
  for (const Shard& shard : shards_[bucket]) {
    const std::size_t length = shard.state.size() / values_;
    kernels::copy(flat.data() + shard.segment.offset * value_bytes(divided), shard.state.data() + block * length,
                  length);
  }
  gather_parts(*comm_, divided, flat.data()).wait();
}

void Shards::gather_each(const Visitor& visit) const {
  std::vector<std::byte> flat;
  for (std::size_t b = 0; b < partition_->size(); ++b) {
    const BucketPartition& bucket = (*partition_)[b];
    flat.resize(bucket.count * value_bytes(bucket));
    for (std::size_t block = 0; block < values_; ++block) {
      gather_block(b, block, flat);
      for (const BucketEntry& entry : bucket.entries)
        visit(bucket, entry, block, flat.data() + entry.offset * value_bytes(bucket));
    }
  }
}

std::vector<std::vector<std::byte>> Shards::gather(std::size_t parameters) const {
  std::vector<std::vector<std::byte>> whole(parameters);
  if (is_empty()) return whole;
  gather_each([&](const BucketPartition& bucket, const BucketEntry& entry, std::size_t block, const std::byte* from) {
    const std::size_t length = entry.count * value_bytes(bucket);
    auto& to = whole[entry.parameter];
    to.resize(values_ * length);
    if (length > 0) kernels::copy(to.data() + block * length, from, length);
  });
  return whole;
}

void Shards::take(const std::vector<std::vector<std::byte>>& whole) {
  for (std::size_t b = 0; b < shards_.size(); ++b) {
    const std::size_t size = value_bytes((*partition_)[b]);
    for (Shard& shard : shards_[b]) {
      const auto& from = whole[shard.segment.parameter];
      const std::size_t length = shard.segment.count * size;
      for (std::size_t block = 0; block < values_; ++block)
        kernels::copy(shard.state.data() + block * length,
                      from.data() + block * (from.size() / values_) + shard.segment.begin * size, length);
    }
  }
}

}  // namespace tutti::training
