// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/process_watch.hpp"

namespace tutti::detail {

/// The other ranks of a communicator whose end this rank can see: those on its node and in its PID namespace, and
/// others if they are watched out of band.
class Peers {
 public:
  using Clock = std::chrono::steady_clock;

  /// all: by rank. is_told: the end of those that this rank cannot see is told by ProcessWatch::tell_ended().
  void watch(std::span<const ProcessIdentity> all, int rank, bool is_told);
  /// Watches a part of another communicator's ranks. ranks: their numbers there.
  void watch(const Peers& whole, std::span<const int> ranks);

  /// A rank that is known to have ended, or -1. Once there is one, it stays the same. Any thread.
  [[nodiscard]] int ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  /// The same after a look now, which costs a system call per peer.
  int look() noexcept;
  /// Returns true if the last look was long enough ago; then the caller looks.
  [[nodiscard]] bool is_time_to_look(Clock::time_point now) noexcept;

  /// Returns true if that rank's end can be seen; of the rank itself, always.
  [[nodiscard]] bool watches(int rank) const noexcept;
  [[nodiscard]] bool watches_all() const noexcept;
  /// Returns true if this rank sees the end of all others by itself. Equal on all ranks.
  [[nodiscard]] bool sees_all() const noexcept;
  /// Looks at one rank now.
  [[nodiscard]] bool has_ended(int rank) const noexcept;
  /// "rank 3 (process 4711)".
  [[nodiscard]] std::string name(int rank) const;

  /// Returns true if any rank of any communicator is known to have ended.
  [[nodiscard]] static bool any_has_ended() noexcept;

 private:
  /// The time between two looks: rare enough to cost nothing, and a tenth of what a user may notice.
  static constexpr std::chrono::milliseconds between_looks{50};

  std::vector<std::shared_ptr<const ProcessWatch>> watches_;  ///< by rank; null: the rank itself, or cannot be watched
  int rank_ = 0;
  std::atomic<Clock::rep> next_look_{0};
  std::atomic<int> ended_{-1};
};

}  // namespace tutti::detail
