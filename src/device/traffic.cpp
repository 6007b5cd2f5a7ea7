// SPDX-License-Identifier: BSD-3-Clause
#include "device/traffic.hpp"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <tutti/environment.hpp>
#include <tutti/error.hpp>
#include <vector>

#include "core/mpi_call.hpp"
#include "device/beside_captures.hpp"
#include "device/kept.hpp"

namespace tutti::detail::device {
namespace {

/// The last launch on a stream.
struct Launch {
  StreamHandle stream = nullptr;
  std::shared_ptr<Event> done{};
};

bool is_over(const Launch& launch) noexcept {
  try {
    return launch.done->is_complete();
  } catch (const std::exception&) {
    return true;
  }
}

}  // namespace

void LaunchMutex::refuse_if_mine() const {
  if (is_mine()) throw Error(ErrorCode::internal, "an operation that is driven by a launch waits for that launch");
}

void LaunchMutex::lock() {
  refuse_if_mine();
  std::unique_lock lock(mutex_);
  is_free_.wait(lock, [this] { return !is_locked_; });
  is_locked_ = true;
  own();
}

bool LaunchMutex::try_lock() noexcept {
  const std::lock_guard lock(mutex_);
  if (is_locked_) return false;
  is_locked_ = true;
  own();
  return true;
}

void LaunchMutex::unlock() noexcept {
  owner_.store({}, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    is_locked_ = false;
  }
  is_free_.notify_one();
}

bool LaunchMutex::is_mine() const noexcept {
  return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

void LaunchMutex::leave() noexcept {
  owner_.store({}, std::memory_order_relaxed);
  is_left_.store(true, std::memory_order_release);
}

void LaunchMutex::resume() noexcept {
  is_left_.store(false, std::memory_order_release);
  own();
}

struct Traffic::State {
  int device;
  LaunchMutex launch_mutex{};
  std::mutex mutex{};
  std::vector<Launch> launches{};
  StreamHandle last = nullptr;            ///< of the last launch
  std::atomic<std::size_t> in_flight{0};  ///< an upper bound on unfinished launches between two polls
  std::atomic<int> under_way{0};          ///< launches between two steps
  std::mutex line_mutex{};
  std::deque<std::uint64_t> line{};  ///< places, by their numbers
  std::uint64_t last_place = 0;
  std::atomic<std::uint64_t> first_place{0};  ///< 0: the line is empty
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

bool Traffic::is_done(StreamHandle stream) {
  const std::lock_guard lock(state_->mutex);
  const auto last = std::ranges::find(state_->launches, stream, &Launch::stream);
  return last == state_->launches.end() || last->done->is_complete();
}

bool Traffic::is_idle() noexcept {
  if (state_->under_way.load(std::memory_order_acquire) > 0) return false;
  if (state_->in_flight.load(std::memory_order_acquire) == 0) return true;
  const std::lock_guard lock(state_->mutex);
  std::erase_if(state_->launches, is_over);
  state_->in_flight.store(state_->launches.size(), std::memory_order_release);
  return state_->launches.empty();
}

void Traffic::begin_launch() noexcept { state_->under_way.fetch_add(1, std::memory_order_acq_rel); }
void Traffic::end_launch() noexcept { state_->under_way.fetch_sub(1, std::memory_order_acq_rel); }
bool Traffic::has_line() const noexcept { return state_->first_place.load(std::memory_order_acquire) != 0; }

Ticket::Ticket(Traffic& traffic) : traffic_(traffic) {
  Traffic::State& state = *traffic.state_;
  const std::lock_guard lock(state.line_mutex);
  number_ = ++state.last_place;
  state.line.push_back(number_);
  state.first_place.store(state.line.front(), std::memory_order_release);
}

Ticket::~Ticket() {
  Traffic::State& state = *traffic_.state_;
  const std::lock_guard lock(state.line_mutex);
  std::erase(state.line, number_);
  state.first_place.store(state.line.empty() ? 0 : state.line.front(), std::memory_order_release);
}

bool Ticket::is_first() const noexcept {
  return traffic_.state_->first_place.load(std::memory_order_acquire) == number_;
}

void give_way() {
  const BesideCaptures beside;  // the MPI may use the device
  progress();
  int found = 0;
  if (mpi_is_usable())
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
  sched_yield();
}

}  // namespace tutti::detail::device
