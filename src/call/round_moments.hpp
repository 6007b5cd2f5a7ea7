// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "diagnosis/ticks.hpp"

namespace tutti::detail {

struct Context;

/// The moments of a communicator's last call by a schedule on host memory on this rank, in ticks: first that in which
/// its first round begins, then the end of each round. Its schedules write them while it lives, which is longer than
/// their executions. Calls of the node's ranks inside a round have a communicator of their own. One at a time.
class RoundMoments {
 public:
  explicit RoundMoments(const Context& context) : context_(context) { asked_.store(this, std::memory_order_release); }
  ~RoundMoments() { asked_.store(nullptr, std::memory_order_release); }
  RoundMoments(const RoundMoments&) = delete;
  RoundMoments& operator=(const RoundMoments&) = delete;

  /// Those of a communicator; null: nobody asks for them.
  [[nodiscard]] static RoundMoments* of(const Context& context) noexcept {
    RoundMoments* asked = asked_.load(std::memory_order_acquire);
    return asked != nullptr && &asked->context_ == &context ? asked : nullptr;
  }

  void clear() { moments_.clear(); }
  void begin() {
    clear();
    end_round();
  }
  void end_round() { moments_.push_back(flight::ticks()); }
  /// Empty if no schedule has made a call.
  [[nodiscard]] const std::vector<std::uint64_t>& get() const noexcept { return moments_; }

 private:
  inline static constinit std::atomic<RoundMoments*> asked_{nullptr};
  const Context& context_;
  std::vector<std::uint64_t> moments_{};
};

}  // namespace tutti::detail
