// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/communication_hook.hpp>
#include <vector>

/// Which part of each bucket belongs to which rank.
namespace tutti::training {

/// What a rank has of one parameter.
struct Segment {
  std::size_t parameter = 0;
  std::size_t begin = 0;  ///< elements from the parameter's begin
  std::size_t count = 0;
  std::size_t offset = 0;  ///< elements from the bucket's begin
};

/// One bucket in parts of equal length, whole cache lines; the last ones are shorter or empty.
struct BucketPartition {
  DatatypeKind type = DatatypeKind::float32;
  std::size_t count = 0;
  std::size_t part = 0;
  std::vector<BucketEntry> entries{};  ///< without shapes

  [[nodiscard]] std::size_t begin(int rank) const;
  [[nodiscard]] std::size_t end(int rank) const { return begin(rank + 1); }
  [[nodiscard]] bool is_uniform(int ranks) const { return count == part * static_cast<std::size_t>(ranks); }
  [[nodiscard]] std::vector<std::size_t> counts(int ranks) const;
  [[nodiscard]] std::vector<std::size_t> displs(int ranks) const;
  /// What lies in the rank's part; at most one segment of a parameter.
  [[nodiscard]] std::vector<Segment> segments(int rank) const;
};

using Partition = std::vector<BucketPartition>;

[[nodiscard]] Partition partition_of(std::span<const GradientBucket> buckets, int ranks);

}  // namespace tutti::training
