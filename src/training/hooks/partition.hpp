// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/communication_hook.hpp>
#include <vector>

/// The parts of each bucket that belong to the ranks.
namespace tutti::training {

/// The run of one parameter's elements that a rank owns.
struct Segment {
  std::size_t parameter = 0;
  std::size_t begin = 0;  ///< first element, in the parameter
  std::size_t count = 0;
  std::size_t offset = 0;  ///< first element, in the bucket
};

/// One bucket in parts of equal length, which is a multiple of a cache line; the last parts are shorter or empty.
struct BucketPartition {
  DatatypeKind type = DatatypeKind::float32;
  std::size_t count = 0;
  std::size_t part = 0;                ///< elements of a full part
  std::vector<BucketEntry> entries{};  ///< without shapes

  [[nodiscard]] std::size_t begin(int rank) const;
  [[nodiscard]] std::size_t end(int rank) const { return begin(rank + 1); }
  [[nodiscard]] bool is_uniform(int ranks) const { return count == part * static_cast<std::size_t>(ranks); }
  [[nodiscard]] std::vector<std::size_t> counts(int ranks) const;
  [[nodiscard]] std::vector<std::size_t> displs(int ranks) const;
  /// The segments in the rank's part, at most one for each parameter.
  [[nodiscard]] std::vector<Segment> segments(int rank) const;
};

using Partition = std::vector<BucketPartition>;

[[nodiscard]] Partition partition_of(std::span<const GradientBucket> buckets, int ranks);

}  // namespace tutti::training
