// SPDX-License-Identifier: BSD-3-Clause
#include "training/reducer/bucket_transfer.hpp"

#include "collectives/services.hpp"

namespace tutti::detail::reducer {

void BucketTransfer::before_launch(std::size_t bucket) const { tracker_->fill(buckets_->buckets()[bucket]); }

void BucketTransfer::after_reduction(std::size_t bucket, std::int64_t active) const {
  const GradientBucket& done = buckets_->buckets()[bucket];
  if (rules_.divides_by_active)
    kernels::divide(done.data.type, done.data.data, done.data.count, static_cast<std::size_t>(active));
  if (rules_.returns_at_end) return;
  for (const BucketEntry& entry : done.entries) buckets_->copy_out(entry.parameter);
}

}  // namespace tutti::detail::reducer
