// SPDX-License-Identifier: BSD-3-Clause
// Buckets without a reducer, to test hooks alone: parameters of given shapes, so many a bucket, with gaps between them.
#pragma once

#include <mpi.h>

#include <cstring>
#include <random>
#include <thread>
#include <tutti/tutti.hpp>
#include <vector>

namespace tutti::test {

using Shapes = std::vector<std::vector<std::size_t>>;

template <typename T>
class BucketSet {
 public:
  /// Parameters go to buckets in reverse, `each` a bucket; three zeros follow every entry.
  BucketSet(Shapes shapes, std::size_t each, ReduceKind op) : shapes_(std::move(shapes)) {
    for (std::size_t left = shapes_.size(); left > 0;) {
      GradientBucket bucket;
      bucket.index = buckets_.size();
      bucket.op = op;
      std::size_t end = 0;
      for (std::size_t k = 0; k < each && left > 0; ++k) {
        --left;
        std::size_t count = 1;
        for (const std::size_t extent : shapes_[left]) count *= extent;
        bucket.entries.push_back({left, end, count, shapes_[left]});
        end += count + 3;
      }
      memory_.emplace_back(end);
      bucket.data = Buffer(memory_.back());
      buckets_.push_back(std::move(bucket));
    }
  }

  [[nodiscard]] std::span<const GradientBucket> buckets() const { return buckets_; }
  [[nodiscard]] std::span<T> data(std::size_t bucket) { return memory_[bucket]; }
  [[nodiscard]] std::span<T> gradient(std::size_t parameter) {
    for (const GradientBucket& bucket : buckets_)
      for (const BucketEntry& entry : bucket.entries)
        if (entry.parameter == parameter) return data(bucket.index).subspan(entry.offset, entry.count);
    return {};
  }
  [[nodiscard]] const Shapes& shapes() const { return shapes_; }

  /// Whether the gaps are still zero.
  [[nodiscard]] bool gaps_are_zero() const {
    for (const GradientBucket& bucket : buckets_)
      for (const BucketEntry& entry : bucket.entries)
        for (std::size_t k = 0; k < 3; ++k)
          if (memory_[bucket.index][entry.offset + entry.count + k] != T(0)) return false;
    return true;
  }

 private:
  Shapes shapes_;
  std::vector<std::vector<T>> memory_{};
  std::vector<GradientBucket> buckets_{};
};

/// One step: all buckets are started in order, and tested in an order of this rank's own.
inline void run_step(CommunicationHook& hook, std::size_t buckets, unsigned seed) {
  for (std::size_t b = 0; b < buckets; ++b) {
    hook.start(b);
    if (b > 0) (void)hook.test(b - 1);
  }
  std::mt19937 generator(seed);
  std::vector<bool> done(buckets);
  for (std::size_t left = buckets; left > 0;) {
    const std::size_t b = generator() % buckets;
    if (!done[b] && hook.test(b)) {
      done[b] = true;
      --left;
    }
    std::this_thread::yield();
  }
}

/// The same on every rank of the communicator.
template <typename T>
bool is_equal_everywhere(const Communicator& comm, std::span<const T> values) {
  std::vector<T> first(values.begin(), values.end());
  bcast(comm, Buffer(first), 0);
  int same = std::memcmp(first.data(), values.data(), values.size_bytes()) == 0 ? 1 : 0;
  allreduce(comm, &same, 1, min);
  return same == 1;
}

}  // namespace tutti::test
