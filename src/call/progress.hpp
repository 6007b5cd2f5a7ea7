// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "call/execution.hpp"

namespace tutti::detail {

/// What the progress engine looks at now and then, beside the executions.
class Watcher {
 public:
  Watcher() = default;
  virtual ~Watcher() = default;
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  /// Never waits. Returns false once there is nothing more to look at.
  virtual bool look() noexcept = 0;
};

/// All outstanding executions of the process. Every call of the library polls them, and the host MPI's calls do so too
/// where it lets them (core/progress_hook.hpp), so that an operation progresses wherever its owner is.
class ProgressEngine {
 public:
  ProgressEngine() = default;
  static ProgressEngine& instance();
  /// Puts another engine in the place of the process's own, and returns the one before: for tests with several ranks in
  /// one process, each of which has an engine.
  static ProgressEngine* replace(ProgressEngine* other) noexcept;

  /// Starts an execution and returns its request; drives it until it has finished.
  [[nodiscard]] Request launch(std::shared_ptr<Execution> execution);
  /// Starts a persistent execution, which its caller keeps, and drives it until it has finished.
  void restart(const std::shared_ptr<Execution>& execution);
  /// Helps to drive an execution until it has finished.
  void add(const std::shared_ptr<Execution>& execution);
  /// Takes one step of every outstanding execution. Never blocks: returns at once if another thread is doing it.
  void poll() {
    if (outstanding_.load(std::memory_order_relaxed) > 0 || watched_.load(std::memory_order_relaxed) > 0) poll_all();
  }
  /// Has polls call watcher.look(), several thousand times a second at most, until it returns false. Again from the
  /// start where it is called for one that is looked at.
  void watch(Watcher& watcher);
  /// On return look() is not running, and is not called any more.
  void unwatch(Watcher& watcher) noexcept;
  /// Makes every poll call a backend's own progress function too. Each function is added once and must never wait.
  void add_hook(void (*progress)());
  void run_hooks() const;
  /// Fails all outstanding executions when MPI ends.
  void cancel_all() noexcept;

  void start_thread();
  void stop_thread() noexcept;
  /// Returns true while a thread of the library polls.
  [[nodiscard]] bool has_thread() const noexcept { return has_thread_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] static ProgressEngine*& current() noexcept;
  void count() noexcept;
  void poll_all();
  void poll_inside_mpi() noexcept;
  static void step_inside_mpi() noexcept { instance().poll_inside_mpi(); }
  [[nodiscard]] bool is_time_to_look() noexcept;
  void look_at_watchers();
  void thread_loop();

  static constexpr std::size_t most_hooks = 8;
  static constexpr std::size_t most_finished = 16;
  std::array<std::atomic<void (*)()>, most_hooks> hooks_{};
  std::mutex mutex_;
  std::vector<std::shared_ptr<Execution>> executions_;
  /// Ended inside an MPI call, where the last reference to a communicator must not end: the next poll drops them.
  std::vector<std::shared_ptr<Execution>> ended_inside_mpi_;
  std::atomic<std::size_t> outstanding_{0};  ///< of both lists
  std::vector<Watcher*> watchers_;
  std::atomic<std::size_t> watched_{0};
  std::atomic<std::chrono::steady_clock::time_point> next_look_{};
  std::mutex thread_mutex_;
  std::thread thread_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> has_thread_{false};
};

}  // namespace tutti::detail
