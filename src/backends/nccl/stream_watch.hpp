// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/nccl/comm.hpp"
#include "call/progress.hpp"
#include "device/pool.hpp"

namespace tutti::detail::nccl {

/// Looks at the device's part of calls that have returned: a blocking call with a stream is done for its caller once it
/// is launched. A failure (NCCL's error, a timeout, a rank that has ended or aborted) breaks the communicator, aborts
/// NCCL here, so that the stream goes on, and tells the other ranks, because NCCL must be aborted on all of them.
class StreamWatch final : public Watcher {
 public:
  using Clock = std::chrono::steady_clock;

  /// A call that has a timeout.
  struct LaunchedCall {
    std::shared_ptr<const Plan> plan{};
    std::shared_ptr<const device::Event> begun{};  ///< the stream has come to the call
    std::shared_ptr<const device::Event> done{};
    std::chrono::nanoseconds timeout{0};  ///< counts from `begun`, because the program's own kernels may take long
    std::optional<Clock::time_point> deadline{};
  };

  /// Both outlive it.
  StreamWatch(Context& context, Comm& comm) : context_(context), comm_(comm) {}
  ~StreamWatch() override { stop(); }
  /// Work was launched on a stream, and noted.
  void add(device::StreamHandle stream);
  /// The same, of a call that has a timeout. Calls of a stream end in their order.
  void add(device::StreamHandle stream, LaunchedCall call);
  /// Looks no more.
  void stop() noexcept { ProgressEngine::instance().unwatch(*this); }
  bool look() noexcept override;

 private:
  /// A stream, until its last launch is done, and the calls with a timeout, in their order.
  struct Lane {
    device::StreamHandle stream = nullptr;
    std::deque<LaunchedCall> calls{};
  };
  void check(Clock::time_point now);
  void check_first(LaunchedCall& call, Clock::time_point now) const;
  [[nodiscard]] Lane& lane_of(device::StreamHandle stream);
  void fail(ErrorCode code, const std::string& text) noexcept;

  Context& context_;
  Comm& comm_;
  std::mutex mutex_;
  std::vector<Lane> lanes_;
};

/// "allreduce (nccl:direct)".
[[nodiscard]] std::string name_of(const Plan& plan);

}  // namespace tutti::detail::nccl
