// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sched.h>

#include "backends/shm/arena.hpp"

namespace tutti::detail::shm {

/// The rank that this rank measures costs with. The two signal each other by the first line of cell 0, with numbers
/// that no later use of the cell takes for its own, because they have generation 0.
class Partner {
 public:
  Partner(Arena& arena, int rank) : arena_(&arena), rank_(rank) {
    // Both have signalled equally often if they have measured before.
    sent_ = received_ = mine()->flag.load(std::memory_order_relaxed);
  }

  [[nodiscard]] int rank() const { return rank_; }
  /// The lower rank of the two does first what they do in turn.
  [[nodiscard]] bool is_first() const { return arena_->rank() < rank_; }
  [[nodiscard]] Line* mine(int cell = 0) const { return arena_->cell(arena_->rank(), cell).lines; }
  [[nodiscard]] const Line* theirs(int cell = 0) const { return arena_->cell(rank_, cell).lines; }
  /// A ring. Both have it, or the near one in its place.
  [[nodiscard]] RingKind ring(RingKind wanted) {
    const bool is_mine = arena_->prepare_ring(wanted);
    if (!is_mine) static_cast<void>(arena_->prepare_ring(RingKind::near));
    *mine()->payload = std::byte{is_mine};
    meet();
    const bool is_theirs = *theirs()->payload == std::byte{1};
    meet();
    return is_mine && is_theirs ? wanted : RingKind::near;
  }
  [[nodiscard]] std::byte* my_ring(RingKind kind) const { return arena_->ring(arena_->rank(), kind); }
  [[nodiscard]] const std::byte* their_ring(RingKind kind) const { return arena_->ring(rank_, kind); }
  [[nodiscard]] pid_t process() const { return arena_->process(rank_); }

  void signal() { mine()->flag.store(++sent_, std::memory_order_release); }
  void await() { await(theirs()->flag, ++received_); }
  void meet() {
    signal();
    await();
  }
  /// Waits until a flag has a value.
  static void await(const std::atomic<std::uint64_t>& flag, std::uint64_t value) {
    constexpr int looks = 20000;
    while (true) {
      for (int i = 0; i < looks; ++i)
        if (flag.load(std::memory_order_acquire) >= value) return;
      sched_yield();
    }
  }

 private:
  Arena* arena_;
  int rank_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace tutti::detail::shm
