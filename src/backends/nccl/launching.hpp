// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>

#include "backends/nccl/launch.hpp"
#include "backends/nccl/state.hpp"
#include "device/traffic.hpp"

namespace tutti::detail::nccl {

/// The launch of one operation, in its turn among those of the device. NCCL connects at the first launch of an
/// algorithm, and is in progress until the peers launch too. So a call that may return before its work is on a stream
/// starts the launch, and steps finish it; nothing else is launched on the device in between. Any other call runs it.
class Launching {
 public:
  /// What it refers to, the schedule too (null: none), lives until it is over. patience: of a run, and whether a thread
  /// that can be stopped makes NCCL's calls.
  Launching(State& state, const Launch& launch, const schedules::Schedule* schedule, std::chrono::nanoseconds patience)
      : state_(state),
        launch_(launch),
        schedule_(schedule),
        patience_(patience),
        traffic_(device::Traffic::of(launch.comm.device())) {}
  Launching(const Launching&) = delete;
  Launching& operator=(const Launching&) = delete;

  /// Launches now, after those that came before, and drives the library's progress meanwhile; throws. is_captured: the
  /// stream is. Outside captures done() is null if nothing was launched.
  void run(bool is_captured);

  /// Takes its place and begins, if it is its turn. The work will follow the event, if there is one. Returns soon, also
  /// where NCCL waits for the peers.
  static void start(const std::shared_ptr<Launching>& launching, const device::Event* before);
  /// Takes a step of all that have been started. Never waits; any thread. The progress engine calls it too.
  static void step_all() noexcept;
  /// Ends one that was started, whose communicator was aborted.
  static void withdraw(const std::shared_ptr<Launching>& launching) noexcept;

  /// Returns true once a started launch is over; failure and event then stay unchanged.
  [[nodiscard]] bool is_over() const noexcept { return is_over_.load(std::memory_order_acquire); }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }
  /// The end of the work; null where a failure prevented the launch.
  [[nodiscard]] const std::shared_ptr<const device::Event>& done() const noexcept { return done_; }

 private:
  class List;
  [[nodiscard]] bool step() noexcept;
  [[nodiscard]] bool go_on();
  void begin();
  void prepare();
  [[nodiscard]] bool needs_thread() const noexcept;
  [[nodiscard]] std::optional<LaunchingCall> next_call();
  void call_all();
  [[nodiscard]] bool call_some();
  void note();
  void end() noexcept;

  State& state_;
  Launch launch_;
  const schedules::Schedule* schedule_;
  std::chrono::nanoseconds patience_;
  device::Traffic& traffic_;
  const device::Event* before_ = nullptr;
  Windows windows_{};  ///< of one collective
  std::unique_ptr<Parts> parts_{};
  std::optional<LaunchingCall> call_{};  ///< that is not through
  std::shared_ptr<Launcher::Job> job_{};
  std::optional<device::Ticket> ticket_{};  ///< of one that was started
  std::atomic<bool> is_known_{false};       ///< connected before, so that it waits for nobody
  bool has_begun_ = false;
  bool has_launched_ = false;  ///< NCCL has work on the stream
  std::exception_ptr failure_{};
  std::shared_ptr<const device::Event> done_{};
  std::atomic<bool> is_over_{false};
};

}  // namespace tutti::detail::nccl
