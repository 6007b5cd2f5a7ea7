// SPDX-License-Identifier: BSD-3-Clause
#include "call/progress.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <tutti/environment.hpp>
#include <tutti/error.hpp>
#include <utility>

#include "call/context.hpp"
#include "core/mpi_call.hpp"
#include "core/progress_hook.hpp"
#include "device/beside_captures.hpp"

namespace tutti::detail {

ProgressEngine*& ProgressEngine::current() noexcept {
  // Never destroyed, because MPI may be finalized after the statics of this file.
  static auto* engine = new ProgressEngine;
  return engine;
}

ProgressEngine& ProgressEngine::instance() { return *current(); }

ProgressEngine* ProgressEngine::replace(ProgressEngine* other) noexcept { return std::exchange(current(), other); }

Request ProgressEngine::launch(std::shared_ptr<Execution> execution) {
  const device::BesideCaptures beside;
  execution->start();
  poll();
  if (!execution->finished()) add(execution);
  return Request(std::move(execution));
}

void ProgressEngine::restart(const std::shared_ptr<Execution>& execution) {
  const device::BesideCaptures beside;
  execution->start();
  poll();
  // If all ranks come at about the same time, a short call is over before it could be put on the list.
  constexpr int first_polls = 4;
  const int polls = execution->comm().topology.oversubscribed ? 0 : first_polls;
  for (int i = 0; i < polls && !execution->finished(); ++i) execution->poll();
  if (!execution->finished()) add(execution);
}

void ProgressEngine::add(const std::shared_ptr<Execution>& execution) {
  const std::lock_guard lock(mutex_);
  try {
    ended_inside_mpi_.reserve(ended_inside_mpi_.size() + executions_.size() + 1);
    executions_.push_back(execution);
  } catch (const std::bad_alloc&) {
    return execution->fail_by_exception();
  }
  count();
  if (execution->goes_on_inside_mpi()) progress_hook::add(step_inside_mpi);
}

void ProgressEngine::count() noexcept {
  outstanding_.store(executions_.size() + ended_inside_mpi_.size(), std::memory_order_relaxed);
}

void ProgressEngine::add_hook(void (*progress)()) {
  for (auto& hook : hooks_) {
    void (*expected)() = nullptr;
    if (hook.compare_exchange_strong(expected, progress) || expected == progress) return;
  }
}

void ProgressEngine::run_hooks() const {
  for (const auto& hook : hooks_)
    if (const auto progress = hook.load(std::memory_order_relaxed)) progress();
}

void ProgressEngine::watch(Watcher& watcher) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(watchers_, &watcher) == watchers_.end()) watchers_.push_back(&watcher);
  watched_.store(watchers_.size(), std::memory_order_relaxed);
}

void ProgressEngine::unwatch(Watcher& watcher) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(watchers_, &watcher);
  watched_.store(watchers_.size(), std::memory_order_relaxed);
}

bool ProgressEngine::is_time_to_look() noexcept {
  constexpr std::chrono::microseconds between_looks{200};
  if (watched_.load(std::memory_order_relaxed) == 0) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_.load(std::memory_order_relaxed)) return false;
  next_look_.store(now + between_looks, std::memory_order_relaxed);
  return true;
}

void ProgressEngine::look_at_watchers() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  std::erase_if(watchers_, [](Watcher* watcher) { return !watcher->look(); });
  watched_.store(watchers_.size(), std::memory_order_relaxed);
}

void ProgressEngine::poll_all() {
  const bool looks = is_time_to_look();
  const bool has_executions = outstanding_.load(std::memory_order_relaxed) > 0;
  if (!looks && !has_executions) return;
  const device::BesideCaptures beside;  // MPI may use the device
  const progress_hook::Pause pause;
  if (looks) look_at_watchers();
  if (!has_executions) return;
  run_hooks();
  // Kept until the lock is released, because the last reference to a communicator may end here and call MPI. No list on
  // the heap: an exception that left here would end a call of another communicator. Once no place is left, the next
  // poll goes on: an execution that has finished must leave the list at once, because its owner may start it anew.
  std::array<std::shared_ptr<Execution>, most_finished> finished;
  std::size_t found = 0;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  int ended_of_mpi = 0;
  for (auto& execution : executions_) {
    if (found == finished.size()) break;
    if (!execution->poll()) continue;
    if (execution->goes_on_inside_mpi()) ++ended_of_mpi;
    finished[found++] = std::move(execution);
  }
  for (; found < finished.size() && !ended_inside_mpi_.empty(); ended_inside_mpi_.pop_back())
    finished[found++] = std::move(ended_inside_mpi_.back());
  if (found == 0) return;
  std::erase(executions_, nullptr);
  count();
  if (ended_of_mpi > 0) progress_hook::remove(ended_of_mpi);
}

/// As poll_all(), on a thread that is inside an MPI call of the program or of this library.
void ProgressEngine::poll_inside_mpi() noexcept {
  const device::BesideCaptures beside;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  int ended = 0;
  for (auto& execution : executions_) {
    if (!execution->goes_on_inside_mpi() || !execution->poll()) continue;
    ended_inside_mpi_.push_back(std::move(execution));  // within its capacity
    ++ended;
  }
  if (ended == 0) return;
  std::erase(executions_, nullptr);
  progress_hook::remove(ended);
}

void ProgressEngine::cancel_all() noexcept {
  const progress_hook::Pause pause;
  std::vector<std::shared_ptr<Execution>> ended;  // destroyed without the lock
  std::vector<std::shared_ptr<Execution>> ended_before;
  const std::lock_guard lock(mutex_);
  progress_hook::end();
  for (const auto& execution : executions_)
    execution->fail(ErrorCode::finalized, execution->name() + ": MPI was finalized before it was complete");
  ended.swap(executions_);
  ended_before.swap(ended_inside_mpi_);
  count();
}

void ProgressEngine::start_thread() {
  int level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  if (level < MPI_THREAD_MULTIPLE)
    throw Error(ErrorCode::not_supported,
                "the progress thread needs MPI_THREAD_MULTIPLE; initialise MPI with it (EnvironmentOptions::threads), "
                "or leave TUTTI_PROGRESS_THREAD unset");
  const std::lock_guard lock(thread_mutex_);
  if (thread_.joinable()) return;
  stop_.store(false);
  thread_ = std::thread([this] { thread_loop(); });
  has_thread_.store(true);
}

void ProgressEngine::stop_thread() noexcept {
  const std::lock_guard lock(thread_mutex_);
  if (!thread_.joinable()) return;
  stop_.store(true);
  has_thread_.store(false);
  thread_.join();
}

void ProgressEngine::thread_loop() {
  using namespace std::chrono_literals;
  while (!stop_.load(std::memory_order_relaxed)) {
    poll();
    if (outstanding_.load(std::memory_order_relaxed) > 0)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(50us);
  }
}

}  // namespace tutti::detail

namespace tutti {

void progress() {
  detail::ProgressEngine::instance().poll();
  detail::ProgressEngine::instance().run_hooks();
}

}  // namespace tutti
