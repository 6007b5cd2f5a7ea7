// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "device/pool.hpp"

namespace tutti::detail::device {

/// A mutex that knows whether the calling thread holds it: while a launch waits for its peers, its thread drives other
/// operations, which must not wait for the lock. A launch that another thread makes keeps it meanwhile, as no thread's:
/// whoever needs progress of the library to get it locks it by try_lock(), and drives that progress.
class LaunchMutex {
 public:
  /// Throws internal on the thread that holds it.
  void lock();
  /// False also on the thread that holds it.
  [[nodiscard]] bool try_lock() noexcept;
  void unlock() noexcept;
  [[nodiscard]] bool is_mine() const noexcept;
  /// Throws internal on the thread that holds it.
  void refuse_if_mine() const;

  /// It stays locked, and is no thread's until resume(), by any thread.
  void leave() noexcept;
  void resume() noexcept;
  [[nodiscard]] bool is_left() const noexcept { return is_left_.load(std::memory_order_acquire); }

 private:
  void own() noexcept { owner_.store(std::this_thread::get_id(), std::memory_order_relaxed); }

  std::mutex mutex_{};
  std::condition_variable is_free_{};
  bool is_locked_ = false;
  std::atomic<bool> is_left_{false};
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
  /// Whether all launches that were noted on the stream are done. Throws the error that the device reports.
  [[nodiscard]] bool is_done(StreamHandle stream);
  /// Whether no NCCL work is in flight, and no launch under way. Never waits. A CUDA error counts as idle, because its
  /// owner reports it.
  [[nodiscard]] bool is_idle() noexcept;
  /// A launch has begun, and is not through, between two steps of it.
  void begin_launch() noexcept;
  void end_launch() noexcept;

  /// Whether launches wait for their turn, or are under way (device::Ticket).
  [[nodiscard]] bool has_line() const noexcept;

 private:
  friend class Ticket;
  explicit Traffic(int device);
  struct State;
  State* state_;
};

/// A place in the order of a device's launches, behind those that were taken before. Any thread.
class Ticket {
 public:
  explicit Ticket(Traffic& traffic);
  ~Ticket();
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  [[nodiscard]] bool is_first() const noexcept;

 private:
  Traffic& traffic_;
  std::uint64_t number_;
};

/// The launch lock, after all launches that came before.
class Turn {
 public:
  /// Calls `wait` between two looks; it drives the launches that come before, and may throw. Throws internal on a
  /// thread that holds the lock.
  template <typename Wait>
  Turn(Traffic& traffic, const Wait& wait) : ticket_(traffic), lock_(traffic.launch_mutex(), std::defer_lock) {
    traffic.launch_mutex().refuse_if_mine();
    while (!ticket_.is_first() || !lock_.try_lock()) wait();
  }

 private:
  Ticket ticket_;
  std::unique_lock<LaunchMutex> lock_;
};

/// Progresses all outstanding operations and the host MPI. A thread that waits for a device calls this between two
/// polls, because a peer may need that progress before it can do its part of the device's work.
void give_way();

}  // namespace tutti::detail::device
