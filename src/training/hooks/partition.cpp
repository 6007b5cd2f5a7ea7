// SPDX-License-Identifier: BSD-3-Clause
#include "training/hooks/partition.hpp"

#include <algorithm>

namespace tutti::training {

std::size_t BucketPartition::begin(int rank) const { return std::min(count, part * static_cast<std::size_t>(rank)); }

std::vector<std::size_t> BucketPartition::counts(int ranks) const {
  std::vector<std::size_t> all;
  for (int r = 0; r < ranks; ++r) all.push_back(end(r) - begin(r));
  return all;
}

std::vector<std::size_t> BucketPartition::displs(int ranks) const {
  std::vector<std::size_t> all;
  for (int r = 0; r < ranks; ++r) all.push_back(begin(r));
  return all;
}

std::vector<Segment> BucketPartition::segments(int rank) const {
  std::vector<Segment> all;
  for (const BucketEntry& entry : entries) {
    const std::size_t from = std::max(begin(rank), entry.offset);
    const std::size_t to = std::min(end(rank), entry.offset + entry.count);
    if (from < to) all.push_back({entry.parameter, from - entry.offset, to - from, from});
  }
  return all;
}

Partition partition_of(std::span<const GradientBucket> buckets, int ranks) {
  constexpr std::size_t line = 64;
  Partition partition;
  for (const GradientBucket& bucket : buckets) {
    const std::size_t whole_line = line / bucket.data.type.size();
    const auto size = static_cast<std::size_t>(ranks);
    const std::size_t even = (bucket.data.count + size - 1) / size;
    const std::size_t part = (even + whole_line - 1) / whole_line * whole_line;
    partition.push_back({bucket.data.type.kind(), bucket.data.count, part, bucket.entries});
    for (BucketEntry& entry : partition.back().entries) entry.shape = {};
  }
  return partition;
}

}  // namespace tutti::training
