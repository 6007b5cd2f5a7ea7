// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

namespace dlrm {

/// Where the time of a training step goes. `alltoall` and `allreduce` hold only what is exposed: posting, progress made
/// while nothing is computed, and waiting.
enum class Phase : std::size_t { data, lookup, alltoall, bottom, interaction, top, backward, allreduce, update, other };

inline constexpr std::size_t phase_count = 10;
inline constexpr std::array<const char*, phase_count> phase_names{
    "data", "lookup", "alltoall", "bottom", "interaction", "top", "backward", "allreduce", "update", "other"};

/// Splits the time of each step among phases: at any moment exactly one phase is running. Local.
class PhaseTimer {
 public:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::array<double, phase_count>;

  /// The first `warmup` steps are timed but left out of the sums and medians.
  explicit PhaseTimer(std::size_t warmup) : warmup_(warmup) {}

  void begin_step() {
    step_ = {};
    begin_ = last_ = Clock::now();
    current_ = Phase::other;
  }
  /// What follows belongs to `phase`.
  void enter(Phase phase) {
    const auto now = Clock::now();
    step_[static_cast<std::size_t>(current_)] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
    current_ = phase;
  }
  void end_step();

  [[nodiscard]] std::size_t measured_steps() const { return durations_.size(); }
  /// Mean seconds a step in each phase.
  [[nodiscard]] Seconds mean() const;
  /// Seconds of each measured step.
  [[nodiscard]] const std::vector<double>& durations() const { return durations_; }

 private:
  std::size_t warmup_;
  std::size_t steps_ = 0;
  Seconds step_{};
  Seconds sum_{};
  std::vector<double> durations_;
  Clock::time_point begin_{};
  Clock::time_point last_{};
  Phase current_ = Phase::other;
};

[[nodiscard]] double median(std::vector<double> values);

}  // namespace dlrm
