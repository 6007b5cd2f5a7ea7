// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "core/stopwatch.hpp"
#include "tools/search.hpp"
#include "tools/trial.hpp"

namespace tutti::detail::tuning {

/// A candidate that is timed beside others.
struct Contender {
  std::string name{};
  std::unique_ptr<Trial> trial{};
  bool in_a_row = false;          ///< as Effort::in_a_row
  int calls = 1;                  ///< calls per batch
  double estimate = 0;            ///< seconds per call
  std::vector<double> seconds{};  ///< seconds per call on the slowest rank, by round
  std::vector<double> lost{};     ///< by round: share of the time in which a rank was kept from running by other work

  /// The rounds in which all ranks ran, or all rounds if there is none.
  [[nodiscard]] std::vector<double> calm_seconds() const;
  [[nodiscard]] std::size_t calm_rounds() const;
};

/// The candidates of those names, warmed up and with estimates. An algorithm that refuses the call is left out: it
/// refuses it on all ranks. Collective, as are the functions below that take a communicator.
[[nodiscard]] std::vector<Contender> contenders_for(const Communicator& comm, const Target& target,
                                                    const std::vector<std::string>& names, TrialMemory& memory,
                                                    const Effort& effort);

/// Lowers the estimates of contenders that the machine disturbed while they warmed up.
void estimate_again(const Communicator& comm, const std::vector<Contender*>& contenders);

/// The contenders that may be the fastest by their estimates.
[[nodiscard]] std::vector<Contender*> hopeful_of(std::vector<Contender>& contenders, const Effort& effort);

/// The number of rounds for which the effort allows.
[[nodiscard]] int rounds_for(const std::vector<Contender*>& contenders, const Effort& effort);

/// Times the contenders in turn, so that a drift of the machine hits all alike, and adds to their seconds. Where ranks
/// share cores, no round counts as disturbed: they keep one another from running.
void race(const Communicator& comm, const std::vector<Contender*>& contenders, int rounds);

/// The time that this thread was ready to run but did not, because its core had other work, as Linux counts it
/// (/proc/thread-self/schedstat). Used by the thread that made it.
class RunDelay {
 public:
  RunDelay();
  ~RunDelay();
  RunDelay(const RunDelay&) = delete;
  RunDelay& operator=(const RunDelay&) = delete;

  /// Seconds since the thread began; 0 where the system does not count them.
  [[nodiscard]] double seconds() const;

 private:
  int file_;
};

}  // namespace tutti::detail::tuning
