// SPDX-License-Identifier: BSD-3-Clause
#include "training/reducer/ready_tracker.hpp"

#include "collectives/services.hpp"

namespace tutti::detail::reducer {

void ReadyTracker::begin(const BucketSet& buckets, const Rules& rules) {
  buckets_ = &buckets;
  is_open_ = true;
  rules_ = rules;
  is_ready_.assign(buckets.sizes().size(), 0);
  if (rules.finds_changes) hashes_.assign(buckets.sizes().size(), 0);
  missing_.clear();
  for (const GradientBucket& bucket : buckets.buckets()) missing_.push_back(bucket.entries.size());
  arrival_.clear();
  full_ = 0;
  fault_ = {};
}

bool ReadyTracker::mark(std::size_t parameter, int rank) {
  if (parameter >= is_ready_.size()) {
    if (!fault_) fault_ = {Fault::Kind::out_of_range, rank, parameter};
    return false;
  }
  if (is_ready_[parameter] != 0) {
    if (!fault_) fault_ = {Fault::Kind::twice, rank, parameter};
    return false;
  }
  is_ready_[parameter] = 1;
  arrival_.push_back(parameter);
  if (rules_.finds_changes) hashes_[parameter] = hash_of(parameter);
  if (rules_.copies_at_once) buckets_->copy_in(parameter);
  if (--missing_[buckets_->bucket_of(parameter)] > 0) return false;
  const std::size_t before = full_;
  while (full_ < missing_.size() && missing_[full_] == 0) ++full_;
  return full_ > before;
}

void ReadyTracker::fill(const GradientBucket& bucket) const {
  if (rules_.copies_at_once) return;
  for (const BucketEntry& entry : bucket.entries)
    if (is_ready_[entry.parameter] != 0) buckets_->copy_in(entry.parameter);
}

Fault ReadyTracker::end(bool may_miss, int rank) {
  is_open_ = false;
  for (std::size_t i = 0; i < is_ready_.size(); ++i) {
    if (is_ready_[i] != 0) continue;
    if (!may_miss && !fault_) fault_ = {Fault::Kind::missing, rank, i};
    buckets_->clear(i);
  }
  if (rules_.finds_changes && !fault_) find_changes(rank);
  return fault_;
}

std::vector<std::uint64_t> ReadyTracker::ready_bits() const {
  constexpr std::size_t word = 64;
  std::vector<std::uint64_t> bits((is_ready_.size() + word - 1) / word, 0);
  for (std::size_t i = 0; i < is_ready_.size(); ++i)
    if (is_ready_[i] != 0) bits[i / word] |= std::uint64_t{1} << i % word;
  return bits;
}

std::uint64_t ReadyTracker::hash_of(std::size_t parameter) const {
  return hash_bytes({buckets_->gradient(parameter), buckets_->sizes()[parameter].bytes()});
}

void ReadyTracker::find_changes(int rank) {
  for (std::size_t i = 0; i < is_ready_.size(); ++i) {
    if (is_ready_[i] == 0 || hashes_[i] == hash_of(i)) continue;
    fault_ = {Fault::Kind::changed, rank, i};
    return;
  }
}

}  // namespace tutti::detail::reducer
