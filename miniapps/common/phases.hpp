// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/range.hpp>
#include <utility>
#include <vector>

namespace tutti::miniapps {

/// Splits the time of each step among named phases: at any moment exactly one runs. Phases marked exposed hold
/// communication that nothing hides. Local; a change of phase costs one clock reading. Steps and phases are ranges of
/// the trace; phases outside of steps, as in an evaluation, too.
class Phases {
 public:
  struct Phase {
    std::string name;
    bool exposed = false;
  };
  /// The first `warmup` steps count in no sum or median. Phase number names.size() is "other".
  Phases(std::vector<Phase> phases, std::size_t warmup);

  void begin_step();
  /// What follows belongs to phase number `phase`.
  void enter(std::size_t phase);
  void end_step();

  [[nodiscard]] const std::vector<Phase>& phases() const { return phases_; }
  [[nodiscard]] double median(std::size_t phase) const;  ///< seconds a step
  [[nodiscard]] double median_step() const;              ///< seconds

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<Phase> phases_;
  std::size_t warmup_;
  std::size_t seen_ = 0;
  std::size_t current_ = 0;
  Clock::time_point begin_{};
  Clock::time_point last_{};
  std::vector<double> step_;
  std::vector<std::vector<float>> samples_;  ///< [phase][step]
  std::vector<double> durations_;
  std::optional<Range> step_range_;
  std::optional<Range> phase_range_;  ///< inside that of the step
};

/// Milliseconds a step of one phase: the median, as mean and as largest over the ranks.
struct PhaseTime {
  std::string name;
  bool exposed = false;
  double mean = 0;
  double largest = 0;
};

/// The phases' times, equal on all ranks. Collective over `comm`; blocking.
[[nodiscard]] std::vector<PhaseTime> phase_times(const Communicator& comm, const Phases& phases);

/// The middle value, the mean of the two middle ones for an even number, 0 for none.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace tutti::miniapps
