// SPDX-License-Identifier: BSD-3-Clause
#include "device/traffic.hpp"

#include <algorithm>
#include <atomic>
#include <tutti/error.hpp>
#include <vector>

#include "device/kept.hpp"

namespace tutti::detail::device {
namespace {

/// The last launch on a stream.
struct Launch {
  StreamHandle stream = nullptr;
  std::shared_ptr<Event> done{};
};

bool is_done(const Launch& launch) noexcept {
  try {
    return launch.done->is_complete();
  } catch (const std::exception&) {
    return true;
  }
}

}  // namespace

void LaunchMutex::lock() {
  if (is_mine()) throw Error(ErrorCode::internal, "an operation that is driven by a launch waits for that launch");
  mutex_.lock();
  owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
}

bool LaunchMutex::try_lock() noexcept {
  if (is_mine() || !mutex_.try_lock()) return false;
  owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  return true;
}

void LaunchMutex::unlock() noexcept {
  owner_.store({}, std::memory_order_relaxed);
  mutex_.unlock();
}

bool LaunchMutex::is_mine() const noexcept {
  return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

struct Traffic::State {
  int device;
  LaunchMutex launch_mutex{};
  std::mutex mutex{};
  std::vector<Launch> launches{};
  StreamHandle last = nullptr;            ///< of the last launch
  std::atomic<std::size_t> in_flight{0};  ///< an upper bound on unfinished launches between two polls
};

Traffic::Traffic(int device) : state_(new State{device}) {}

Traffic& Traffic::of(int device) {
  static auto* all = new Kept<int, Traffic>;
  return all->of(device, [&] { return new Traffic(device); });
}

LaunchMutex& Traffic::launch_mutex() noexcept { return state_->launch_mutex; }

std::shared_ptr<const Event> Traffic::note_launch(StreamHandle stream) {
  const std::lock_guard lock(state_->mutex);
  auto& launches = state_->launches;
  const auto known = std::ranges::find(launches, stream, &Launch::stream);
  Launch& launch = known == launches.end() ? launches.emplace_back(Launch{stream}) : *known;
  state_->in_flight.store(launches.size(), std::memory_order_release);
  // One that others still ask about must not move on.
  if (launch.done.use_count() != 1) launch.done = std::make_shared<Event>();
  launch.done->record(state_->device, stream);
  state_->last = stream;
  return launch.done;
}

void Traffic::follow(StreamHandle stream) {
  const std::lock_guard lock(state_->mutex);
  if (state_->last == stream) return;
  const auto last = std::ranges::find(state_->launches, state_->last, &Launch::stream);
  if (last != state_->launches.end()) required_runtime("NCCL").wait_event(stream, last->done->handle());
}

bool Traffic::is_idle() noexcept {
  if (state_->in_flight.load(std::memory_order_acquire) == 0) return true;
  const std::lock_guard lock(state_->mutex);
  std::erase_if(state_->launches, is_done);
  state_->in_flight.store(state_->launches.size(), std::memory_order_release);
  return state_->launches.empty();
}

}  // namespace tutti::detail::device
