// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "training/reducer/bucket_set.hpp"
#include "training/reducer/ready_tracker.hpp"

namespace tutti::detail::reducer {

/// Brings gradients into a bucket before it is launched, and its result back to them. The launch queue calls it, from
/// whichever thread drives the queue.
class BucketTransfer {
 public:
  struct Rules {
    bool divides_by_active = false;  ///< averages over the ranks that have a step: the hook's result is a sum
    bool returns_at_end = false;     ///< wait() copies all results back, not each bucket as it is done
  };
  /// `buckets` and `tracker` outlive it.
  BucketTransfer(const BucketSet& buckets, const ReadyTracker& tracker, const Rules& rules)
      : buckets_(&buckets), tracker_(&tracker), rules_(rules) {}

  void before_launch(std::size_t bucket) const;
  /// `active`: the number of ranks that have a step.
  void after_reduction(std::size_t bucket, std::int64_t active) const;

 private:
  const BucketSet* buckets_;
  const ReadyTracker* tracker_;
  Rules rules_;
};

}  // namespace tutti::detail::reducer
