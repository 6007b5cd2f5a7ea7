// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "training/reducer/bucket_set.hpp"
#include "training/reducer/fault.hpp"

namespace tutti::detail::reducer {

/// Follows this rank's gradients through one step: which are ready, the order in which they became ready, and which
/// buckets are full.
class ReadyTracker {
 public:
  struct Rules {
    bool finds_changes = false;
    bool copies_at_once = true;  ///< mark() copies a gradient into its bucket; else fill() does
  };
  void begin(const BucketSet& buckets, const Rules& rules);
  [[nodiscard]] bool is_open() const { return is_open_; }

  /// Notes that the gradient is complete; true if another bucket can be launched now.
  bool mark(std::size_t parameter, int rank);
  /// The number of buckets that can be launched: the full ones before the first that is not full.
  [[nodiscard]] std::size_t full() const { return full_; }
  /// Copies the gradients of a full bucket into it, unless mark() has done so. From any thread, after mark() or end()
  /// has made the bucket full.
  void fill(const GradientBucket& bucket) const;
  /// Ends the step: zeroes the gradients that are missing, and returns the first fault of this rank, if any.
  Fault end(bool may_miss, int rank);
  /// One bit a parameter: whether it is ready.
  [[nodiscard]] std::vector<std::uint64_t> ready_bits() const;
  [[nodiscard]] const std::vector<std::size_t>& arrival() const { return arrival_; }

 private:
  [[nodiscard]] std::uint64_t hash_of(std::size_t parameter) const;
  void find_changes(int rank);

  const BucketSet* buckets_ = nullptr;
  bool is_open_ = false;
  Rules rules_{};
  std::vector<std::uint8_t> is_ready_;
  std::vector<std::size_t> missing_;  ///< gradients that each bucket lacks
  std::vector<std::size_t> arrival_;
  std::vector<std::uint64_t> hashes_;  ///< gradients when they were marked, to find changes
  std::size_t full_ = 0;
  Fault fault_{};
};

}  // namespace tutti::detail::reducer
