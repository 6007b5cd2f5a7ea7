// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/comm_body.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "call/progress.hpp"
#include "core/mpi_call.hpp"
#include "device/allocations.hpp"
#include "device/traffic.hpp"

namespace tutti::detail::nccl {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using End = CommBody::End;

/// Communicators that wait for the end of graphs or launches.
class Waiting {
 public:
  static Waiting& instance() {
    static auto* only = new Waiting;  // never destroyed, because graphs may end after the statics
    return *only;
  }
  void add(const std::shared_ptr<CommBody>& body) {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(bodies_, body) == bodies_.end()) bodies_.push_back(body);
    count_.store(bodies_.size(), std::memory_order_release);
  }
  template <typename Step>
  void each(const Step& step) {
    if (count_.load(std::memory_order_acquire) == 0) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    std::erase_if(bodies_, step);
    count_.store(bodies_.size(), std::memory_order_release);
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<CommBody>> bodies_;
  std::atomic<std::size_t> count_{0};
};

device::LaunchMutex& launch_mutex(const CommBody& body) noexcept {
  return device::Traffic::of(body.device).launch_mutex();
}

/// Whether a launch of this thread drives the operation that ends a communicator.
bool is_launching(const CommBody& body) noexcept { return launch_mutex(body).is_mine(); }

/// Ends the handle by NCCL's abort, which also stops the work on the device. Both locks are held.
void abort_now(CommBody& body) {
  body.registrations.clear();
  body.factors.clear();
  body.family->is_aborted.store(true, std::memory_order_release);
  (void)body.table.comm_abort(body.handle);
  body.handle = nullptr;
  body.end = End::done;
}

/// Begins the end of a communicator. The call of NCCL has a thread of its own if the communicator blocks, because it
/// then returns only when the work is done and the other ranks have made it too.
Result begin_finalize(CommBody& body) {
  if (!body.is_blocking) return body.table.comm_finalize(body.handle);
  try {
    body.finalizing = std::make_unique<CommBody::Finalizing>(body.device);
    // The thread may outlive the body, once that has aborted the communicator.
    (void)body.finalizing->thread.begin(
        [finalize = body.table.comm_finalize, handle = body.handle, result = body.finalizing->result] {
          result->store(finalize(handle), std::memory_order_release);
        });
  } catch (const std::exception&) {
    return Result::system_error;
  }
  return Result::in_progress;
}

/// Releases the communicator's resources and asks it to come to rest.
void finalize(CommBody& body) {
  for (const auto& [range, made] : body.registrations) {
    if (made.buffer != nullptr) (void)body.table.comm_deregister(body.handle, made.buffer);
    if (made.window != nullptr) (void)body.table.comm_window_deregister(body.handle, made.window);
  }
  body.registrations.clear();
  for (const auto& [key, op] : body.factors) (void)body.table.red_op_destroy(op, body.handle);
  body.factors.clear();
  const Result result = begin_finalize(body);
  if (result != Result::success && result != Result::in_progress) return abort_now(body);
  body.end_by = Clock::now() + (body.patience.count() > 0 ? body.patience : std::chrono::nanoseconds(60s));
  body.end = End::finalizing;
}

Result finalize_state(CommBody& body) {
  if (body.finalizing) return body.finalizing->result->load(std::memory_order_acquire);
  Result state = Result::success;
  const Result asked = body.table.comm_get_async_error(body.handle, &state);
  return asked == Result::success ? state : asked;
}

void poll_finalize(CommBody& body) {
  const Result state = finalize_state(body);
  if (state == Result::in_progress && Clock::now() < body.end_by) return;
  if (state != Result::success) return abort_now(body);
  (void)body.table.comm_destroy(body.handle);
  body.handle = nullptr;
  body.end = End::done;
}

/// Takes one step towards the end. Returns true once there is nothing more to do. Does not wait for a lock.
bool step(CommBody& body) {
  if (body.graphs->load(std::memory_order_acquire) > 0) return false;
  const std::unique_lock no_launch(launch_mutex(body), std::try_to_lock);
  if (!no_launch) return false;
  const std::unique_lock lock(body.mutex, std::try_to_lock);
  if (!lock) return false;
  if (body.end == End::done || body.handle == nullptr) return true;
  const auto guard = body.on_device();
  if (body.is_aborted())
    abort_now(body);
  else if (body.end == End::begun)
    finalize(body);
  else if (body.end == End::finalizing)
    poll_finalize(body);
  return body.end == End::done;
}

/// A call that blocks in NCCL keeps the launch lock, and only an abort by another thread ends it. The handle stays,
/// because that thread reads it. Returns true once there is nothing more to do.
bool abort_beside_launches(CommBody& body) {
  if (!body.is_blocking) return false;
  const std::unique_lock lock(body.mutex, std::try_to_lock);
  if (!lock) return false;
  if (body.end == End::done || body.handle == nullptr) return true;
  const auto guard = body.on_device();
  body.registrations.clear();
  body.factors.clear();
  body.end = End::done;
  (void)body.table.comm_abort(body.handle);
  return true;
}

void poll_and_yield() {
  try {
    if (mpi_is_usable()) ProgressEngine::instance().poll();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the failed operation tells its owner
  }
  sched_yield();
}

}  // namespace

void begin_abort(const std::shared_ptr<CommBody>& body) noexcept {
  // Another thread may be about to leave its launch, and sees the mark; or it saw none, and is about to begin a call,
  // on a handle that must not end before.
  const auto marked = Clock::now();
  while (!step(*body)) {
    // The launcher makes the call, and this thread, or nobody, waits for it.
    const bool is_elsewhere = is_launching(*body) || launch_mutex(*body).is_left();
    if (body->graphs->load(std::memory_order_acquire) > 0 || (is_elsewhere && !body->is_blocking))
      return Waiting::instance().add(body);
    const auto waited = Clock::now() - marked;
    if (waited > (is_elsewhere ? 30ms : 100ms) && abort_beside_launches(*body)) return;
    if (waited > 100ms) return Waiting::instance().add(body);
    sched_yield();
  }
}

void end_with_patience(const std::shared_ptr<CommBody>& body) noexcept {
  device::Allocations::instance().unwatch(body.get());
  {
    const std::lock_guard lock(body->mutex);
    if (body->end == End::none) body->end = End::begun;
  }
  const auto patience = body->patience.count() > 0 ? body->patience : std::chrono::nanoseconds(60s);
  const auto deadline = Clock::now() + patience + 1s;
  while (!step(*body)) {
    if (body->graphs->load(std::memory_order_acquire) > 0 || is_launching(*body) || Clock::now() > deadline)
      return Waiting::instance().add(body);
    poll_and_yield();
  }
}

void go_on_ending() noexcept {
  Waiting::instance().each([](const std::shared_ptr<CommBody>& body) { return step(*body); });
}

}  // namespace tutti::detail::nccl
