// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "device/pool.hpp"

namespace tutti::detail::device {

/// A mutex that knows whether the calling thread holds it: while a launch waits for its peers, its thread drives other
/// operations, which must not wait for the lock.
class LaunchMutex {
 public:
  /// Throws internal on the thread that holds it.
  void lock();
  /// False also on the thread that holds it.
  [[nodiscard]] bool try_lock() noexcept;
  void unlock() noexcept;
  [[nodiscard]] bool is_mine() const noexcept;

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_{};
};

/// The NCCL work of this process on one device. All communicators launch under one lock and so in one order. Any
/// thread.
class Traffic {
 public:
  /// Never destroyed.
  [[nodiscard]] static Traffic& of(int device);

  /// Held while NCCL calls are made.
  [[nodiscard]] LaunchMutex& launch_mutex() noexcept;
  /// Makes the stream wait for the last noted launch if that went to another stream, so that the works of all
  /// communicators run in the order of their launches. Not for a captured stream. Under the launch lock.
  void follow(StreamHandle stream);
  /// Notes that NCCL work was launched on a stream that is not captured. It is in flight until all work that precedes
  /// this call on the stream is done, which the event tells.
  std::shared_ptr<const Event> note_launch(StreamHandle stream);
  /// Whether no NCCL work is in flight. Never waits. A CUDA error counts as idle, because its owner reports it.
  [[nodiscard]] bool is_idle() noexcept;

 private:
  explicit Traffic(int device);
  struct State;
  State* state_;
};

}  // namespace tutti::detail::device
