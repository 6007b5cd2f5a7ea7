// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "replay/recording.hpp"

namespace tutti::commbench::replay {

/// Puts what a rank did in the order in which one thread can do it again.
class Timeline {
 public:
  explicit Timeline(Recording& recording) : recording_(recording) {}

  /// Seconds of any clock.
  void run(RecordedCall&& call, double begin, std::optional<double> length);
  /// Returns the number of the call, for its wait.
  std::size_t start(RecordedCall&& call, double begin);
  void wait(std::size_t call, double begin, std::optional<double> length);

  /// Sorts the steps. Blocking calls that overlap, such as both halves of a sendrecv or calls of two threads, become
  /// nonblocking ones with a wait each. What has no wait gets one at the end. first: when the trace began; none: with
  /// the first step.
  void finish(std::optional<double> first);

 private:
  void add(Step::Kind kind, std::size_t call, double begin, std::optional<double> length);
  void separate(std::size_t first, std::size_t last);
  void separate_overlapping();
  void wait_for_all();

  Recording& recording_;
};

}  // namespace tutti::commbench::replay
