// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/launching.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "call/progress.hpp"
#include "device/beside_captures.hpp"
#include "device/traffic.hpp"

namespace tutti::detail::nccl {
namespace {

using Clock = std::chrono::steady_clock;

std::unique_ptr<Parts> parts_of(const Launch& launch, const schedules::Schedule* schedule, bool is_known) {
  if (launch.puts != nullptr) return put_parts(launch, *schedule, !is_known);
  if (schedule != nullptr) return schedule_parts(launch, *schedule);
  return is_wide(launch.plan) ? wide_parts(launch) : direct_parts(launch);
}

}  // namespace

/// All that are started and not over, in the order of their starts. Whoever steps never waits, and drives nothing.
class Launching::List {
 public:
  static List& instance() {
    static auto* only = new List;  // never destroyed, because the progress engine is not
    return *only;
  }
  void add(const std::shared_ptr<Launching>& launching) {
    const std::lock_guard lock(mutex_);
    all_.push_back(launching);
    count_.store(all_.size(), std::memory_order_release);
  }
  void step() noexcept {
    if (count_.load(std::memory_order_acquire) == 0) return;
    const device::BesideCaptures beside;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    std::erase_if(all_, [](const auto& launching) { return launching->step(); });
    count_.store(all_.size(), std::memory_order_release);
  }
  /// On return no thread takes a step of it.
  void remove(const std::shared_ptr<Launching>& launching) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(all_, launching);
    count_.store(all_.size(), std::memory_order_release);
  }

 private:
  std::mutex mutex_{};
  std::vector<std::shared_ptr<Launching>> all_{};
  std::atomic<std::size_t> count_{0};
};

void Launching::run(bool is_captured) {
  const auto begun = Clock::now();
  const device::Turn turn(traffic_, [&] {
    if (patience_.count() > 0 && Clock::now() - begun > patience_)
      throw Error(ErrorCode::timeout,
                  fmt::format("NCCL's launch still waited for an earlier launch on this device after {:.3g} s; a rank "
                              "may not have reached that call",
                              std::chrono::duration<double>(patience_).count()));
    device::give_way();
  });
  if (is_captured)
    launch_.comm.retain_by_graph(launch_.stream);
  else
    prepare();
  const auto note_work = [&] {
    if (has_launched_ && !is_captured) note();
  };
  begin();
  try {
    if (needs_thread())
      launch_.comm.await(*Launcher::of(launch_.comm.device()).begin([this] { call_all(); }), "NCCL's launch",
                         patience_);
    else
      call_all();
  } catch (...) {
    note_work();
    throw;
  }
  note_work();
  if (!is_known_) launch_.comm.connections().add(launch_.plan, schedule_, windows_);
}

void Launching::prepare() {
  Comm& comm = launch_.comm;
  comm.require_usable();
  if (!comm.table().orders_launches) traffic_.follow(launch_.stream);
  if (before_ != nullptr) device::required_runtime("NCCL").wait_event(launch_.stream, before_->handle());
  if (!state_.registers()) return;
  comm.use_registered(launch_.binding.input);
  comm.use_registered(launch_.binding.output);
}

void Launching::begin() {
  if (schedule_ == nullptr) windows_ = launch_.comm.windows_of(launch_.binding.input, launch_.binding.output);
  is_known_ = launch_.comm.connections().cover(launch_.plan, schedule_, windows_);
  parts_ = parts_of(launch_, schedule_, is_known_);
}

/// On a communicator that blocks, a launch that may wait for other ranks is another thread's, which has a time limit
/// and lets this one drive MPI.
bool Launching::needs_thread() const noexcept {
  return launch_.comm.is_blocking() && (!is_known_ || patience_.count() > 0);
}

/// Nothing more is called once another thread has aborted.
std::optional<LaunchingCall> Launching::next_call() {
  launch_.comm.require_usable();
  return parts_->next();
}

/// Waits for each call.
void Launching::call_all() {
  while (const auto call = next_call()) {
    launch_.comm.check(call->result, call->name, patience_);
    has_launched_ = true;
  }
}

/// Waits for none: true once all are through.
bool Launching::call_some() {
  while (true) {
    if (call_ && call_->result == Result::in_progress) call_->result = launch_.comm.poll();
    if (call_ && call_->result == Result::in_progress) return false;
    if (call_) {
      launch_.comm.require(call_->result, call_->name);
      has_launched_ = true;
    }
    call_ = next_call();
    if (!call_) return true;
  }
}

void Launching::note() {
  done_ =
      has_launched_ ? traffic_.note_launch(launch_.stream) : device::recorded(launch_.comm.device(), launch_.stream);
}

void Launching::start(const std::shared_ptr<Launching>& launching, const device::Event* before) {
  ProgressEngine::instance().add_hook(step_all);
  launching->before_ = before;
  launching->ticket_.emplace(launching->traffic_);
  List::instance().add(launching);
  step_all();
  // NCCL launches in another thread, which takes as long as a thread takes to come to a core.
  constexpr std::chrono::milliseconds soon{1};
  for (const auto begun = Clock::now(); launching->is_known_ && !launching->is_over() && Clock::now() - begun < soon;) {
    sched_yield();
    step_all();
  }
}

void Launching::step_all() noexcept { List::instance().step(); }

bool Launching::step() noexcept {
  device::LaunchMutex& mutex = traffic_.launch_mutex();
  if (job_) {
    if (!job_->is_done()) return false;
    mutex.resume();
  } else if (!ticket_->is_first() || !mutex.try_lock()) {
    return false;
  }
  std::unique_lock lock(mutex, std::adopt_lock);
  try {
    const device::Guard guard(launch_.comm.device());
    if (!go_on()) {
      if (job_) lock.release()->leave();
      return false;
    }
    note();
    if (!is_known_) launch_.comm.connections().add(launch_.plan, schedule_, windows_);
  } catch (...) {
    failure_ = std::current_exception();
  }
  lock.unlock();
  end();
  return true;
}

/// Returns true once all is launched.
bool Launching::go_on() {
  if (job_) {
    job_->rethrow();
    return true;
  }
  if (!has_begun_) {
    prepare();
    begin();
    has_begun_ = true;
    traffic_.begin_launch();
    if (needs_thread()) {
      job_ = Launcher::of(launch_.comm.device()).begin([this] { call_all(); });
      return false;
    }
  }
  return call_some();
}

/// NCCL's work is in flight also where a later part of the call could not be launched.
void Launching::end() noexcept {
  try {
    if (done_ == nullptr && has_launched_) note();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the failure that came before is told
  }
  parts_.reset();
  if (has_begun_) traffic_.end_launch();
  ticket_.reset();
  is_over_.store(true, std::memory_order_release);
}

void Launching::withdraw(const std::shared_ptr<Launching>& launching) noexcept {
  List::instance().remove(launching);
  if (launching->is_over()) return;
  if (launching->job_) {
    while (!launching->job_->is_done()) sched_yield();  // the abort ends it
    launching->traffic_.launch_mutex().resume();
    launching->traffic_.launch_mutex().unlock();
  }
  launching->end();
}

}  // namespace tutti::detail::nccl
