// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <optional>

#include "backends/device/work_stream.hpp"
#include "backends/nccl/comm_body.hpp"
#include "device/pool.hpp"

namespace tutti::detail::nccl {

/// The first launches of a new communicator. NCCL connects to peers at the first launch of an algorithm, which is in
/// progress until the peers launch too; so all ranks make these together, and later launches do not wait for peers.
/// Messages are connected between all ranks of small communicators only: each connection takes memory.
class WarmUp {
 public:
  /// `body` has its handle. The device must be current.
  WarmUp(CommBody& body, int rank, int size);
  /// The memory outlives work that is still under way.
  ~WarmUp();
  WarmUp(const WarmUp&) = delete;
  WarmUp& operator=(const WarmUp&) = delete;

  /// Takes a step without waiting: in_progress until all are launched, then success, or the first failure. Without the
  /// launch lock.
  [[nodiscard]] Result advance();
  /// Makes all launches, which may wait for other ranks; gives the first failure. For a thread that may wait: the
  /// caller holds the launch lock, and calls note_launches() afterwards.
  [[nodiscard]] Result launch_all();
  void note_launches();
  /// launch_all() begins no further launch. Any thread may call it.
  void stop() noexcept { is_stopped_.store(true, std::memory_order_release); }
  /// Whether the device has done them.
  [[nodiscard]] bool is_done() const { return done_.is_complete(); }

 private:
  [[nodiscard]] Result launch(int step);
  [[nodiscard]] Result launch_messages();

  CommBody& body_;
  int rank_;
  int size_;
  StreamLease lease_;
  device::Block memory_;
  device::Event done_{};
  int next_ = 0;
  bool is_launching_ = false;
  std::atomic<bool> is_stopped_{false};
};

}  // namespace tutti::detail::nccl
