// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>

namespace tutti::detail {

/// The waiting sends of one communicator. A send waits for a copy from device memory, or for such a send before it,
/// because MPI promises that messages between two ranks do not overtake each other. Sends are therefore posted in the
/// order of calls. Any thread.
class SendOrder {
 public:
  using Ticket = std::uint64_t;

  /// Returns true if a send waits; a new send must then wait too.
  [[nodiscard]] bool has_waiting() const noexcept { return waiting_.load(std::memory_order_acquire) > 0; }

  [[nodiscard]] Ticket enter(int peer) {
    const std::lock_guard lock(mutex_);
    peers_[peer].push_back(++last_);
    waiting_.fetch_add(1, std::memory_order_acq_rel);
    return last_;
  }
  /// Returns true once all earlier sends to that peer have left.
  [[nodiscard]] bool is_first(int peer, Ticket ticket) const {
    const std::lock_guard lock(mutex_);
    return peers_.at(peer).front() == ticket;
  }
  /// Removes a send that was posted or given up.
  void leave(int peer, Ticket ticket) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = peers_.find(peer);
    if (found == peers_.end() || std::erase(found->second, ticket) == 0) return;
    if (found->second.empty()) peers_.erase(found);
    waiting_.fetch_sub(1, std::memory_order_acq_rel);
  }

 private:
  mutable std::mutex mutex_;
  std::map<int, std::deque<Ticket>> peers_;
  Ticket last_ = 0;
  std::atomic<std::size_t> waiting_{0};
};

}  // namespace tutti::detail
