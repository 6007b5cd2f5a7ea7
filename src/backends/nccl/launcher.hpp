// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>

namespace tutti::detail::nccl {

/// A thread for calls of NCCL that may wait for other ranks, so that the caller can drive MPI, outstanding operations
/// and a time limit meanwhile: the set-up, first launches, launches with a timeout. The thread begins with the first
/// job. That of a device makes launches: its caller holds the launch lock from begin() until the job is done.
class Launcher {
 public:
  /// One piece of work. Any thread may ask.
  class Job {
   public:
    [[nodiscard]] bool is_done() const noexcept { return is_done_.load(std::memory_order_acquire); }
    /// After its end: throws what the work threw.
    void rethrow() const {
      if (failure_) std::rethrow_exception(failure_);
    }

   private:
    friend class Launcher;
    std::function<void()> work_{};
    std::exception_ptr failure_{};
    std::atomic<bool> is_done_{false};
  };

  /// That of a device; never destroyed.
  [[nodiscard]] static Launcher& of(int device);
  explicit Launcher(int device) : device_(device) {}
  /// Does not wait for a job that is not done.
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  /// Runs `work` in the thread, on which the device is current. What it refers to lives until the job is done.
  [[nodiscard]] std::shared_ptr<Job> begin(std::function<void()> work);

 private:
  /// What a thread and its launcher share.
  struct Desk {
    std::mutex mutex{};
    std::condition_variable has_job{};
    std::shared_ptr<Job> job{};
    bool is_left = false;
  };
  static void serve(const std::shared_ptr<Desk>& desk, int device);

  int device_;
  std::mutex mutex_;
  std::shared_ptr<Desk> desk_;
};

}  // namespace tutti::detail::nccl
