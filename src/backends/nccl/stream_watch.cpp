// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/stream_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tutti/error.hpp>
#include <utility>

#include "backends/nccl/launch.hpp"
#include "call/context.hpp"
#include "device/traffic.hpp"

namespace tutti::detail::nccl {

std::string name_of(const Plan& plan) {
  std::string_view way = plan.algorithm != nullptr ? plan.algorithm->name : is_wide(plan) ? "wide" : "direct";
  if (is_put(plan)) way = "put";
  return fmt::format("{} (nccl:{})", operation_name(plan.signature.operation), way);
}

StreamWatch::Lane& StreamWatch::lane_of(device::StreamHandle stream) {
  const auto lane = std::ranges::find(lanes_, stream, &Lane::stream);
  return lane != lanes_.end() ? *lane : lanes_.emplace_back(Lane{stream, {}});
}

void StreamWatch::add(device::StreamHandle stream) {
  {
    const std::lock_guard lock(mutex_);
    (void)lane_of(stream);
  }
  ProgressEngine::instance().watch(*this);
}

void StreamWatch::add(device::StreamHandle stream, LaunchedCall call) {
  // Each call holds events. Of a stream that is further behind, the last calls count as one.
  constexpr std::size_t most_calls = 256;
  {
    const std::lock_guard lock(mutex_);
    Lane& lane = lane_of(stream);
    if (lane.calls.size() < most_calls) {
      lane.calls.push_back(std::move(call));
    } else {
      LaunchedCall& last = lane.calls.back();
      last.done = std::move(call.done);
      last.timeout += call.timeout;
    }
  }
  ProgressEngine::instance().watch(*this);
}

bool StreamWatch::look() noexcept {
  const auto now = Clock::now();
  try {
    check(now);
  } catch (const Error& error) {
    fail(error.code(), error.what());
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory for words; the next look says it
  }
  const std::lock_guard lock(mutex_);
  if (comm_.is_aborted()) lanes_.clear();
  return !lanes_.empty();
}

void StreamWatch::check(Clock::time_point now) {
  if (comm_.is_lost()) comm_.check_async();  // throws
  if (comm_.is_aborted()) return;
  if (context_.peers.is_time_to_look(now)) {
    context_.check_peers("a call that had returned");
    context_.hear_of_abort();
  }
  {
    const std::lock_guard lock(mutex_);
    for (Lane& lane : lanes_) {
      while (!lane.calls.empty() && lane.calls.front().done->is_complete()) lane.calls.pop_front();
      if (!lane.calls.empty()) check_first(lane.calls.front(), now);
    }
    auto& traffic = device::Traffic::of(comm_.device());
    std::erase_if(lanes_, [&](const Lane& lane) { return lane.calls.empty() && traffic.is_done(lane.stream); });
    if (lanes_.empty()) return;
  }
  comm_.check_async();
}

void StreamWatch::check_first(LaunchedCall& call, Clock::time_point now) const {
  if (!call.deadline && call.begun->is_complete()) call.deadline = now + call.timeout;
  if (!call.deadline || now <= *call.deadline) return;
  throw Error(ErrorCode::timeout,
              fmt::format("{}, {}: not complete on the device {} ms after its stream had come to it; a rank may be "
                          "late, stopped, or in another call. Raise the timeout, or check that rank",
                          name_of(*call.plan), context_.describe(),
                          std::chrono::duration_cast<std::chrono::milliseconds>(call.timeout).count()));
}

void StreamWatch::fail(ErrorCode code, const std::string& text) noexcept {
  context_.keep_contexts();
  context_.mark_broken(code, text);
  comm_.abort();
  context_.tell_of_failure();
}

}  // namespace tutti::detail::nccl
