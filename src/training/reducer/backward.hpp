// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "training/reducer/bucket_set.hpp"
#include "training/reducer/mistake.hpp"

namespace tutti::detail::reducer {

/// This rank's gradients of one step: which are ready, in which order they came, which buckets are full.
class Backward {
 public:
  struct Rules {
    bool finds_changes = false;
    bool takes_at_once = true;  ///< gradients go to their bucket when they are marked; else in take()
  };
  void begin(const BucketSet& buckets, const Rules& rules);
  [[nodiscard]] bool is_open() const { return is_open_; }

  /// The gradient is complete; true when this filled a bucket that can be launched.
  bool mark(std::size_t parameter, int rank);
  /// Buckets that are full, and all before them.
  [[nodiscard]] std::size_t full() const { return full_; }
  /// Takes the gradients of a full bucket into it, if that was not done before. By any thread, after mark() or end()
  /// has made the bucket full.
  void take(const GradientBucket& bucket) const;
  /// Clears what is missing; what was wrong, if anything.
  Mistake end(bool may_miss, int rank);
  /// A bit for each parameter that is ready.
  [[nodiscard]] std::vector<std::uint64_t> ready_bits() const;
  [[nodiscard]] const std::vector<std::size_t>& arrival() const { return arrival_; }

 private:
  [[nodiscard]] std::uint64_t fingerprint_of(std::size_t parameter) const;
  void find_changes(int rank);

  const BucketSet* buckets_ = nullptr;
  bool is_open_ = false;
  Rules rules_{};
  std::vector<std::uint8_t> is_ready_;
  std::vector<std::size_t> missing_;  ///< gradients of each bucket
  std::vector<std::size_t> arrival_;
  std::vector<std::uint64_t> fingerprints_;
  std::size_t full_ = 0;
  Mistake mistake_{};
};

}  // namespace tutti::detail::reducer
