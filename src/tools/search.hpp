// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "tools/targets.hpp"

namespace tutti::detail::tuning {

/// The effort per figure.
struct Effort {
  int rounds = 9;               ///< the candidates take turns in each round; the figure is the median
  double batch_seconds = 3e-4;  ///< a round times as many calls of a candidate as fill these seconds
  double target_seconds = 0.5;  ///< for all rounds of a target: slow calls get fewer rounds, at least 3
  double hopeless = 4;          ///< candidates this many times slower than the best are timed once
  /// Calls of a batch follow one another, and a rank that only gives, like the root of a bcast, may run ahead of the
  /// others as far as a candidate lets it. Otherwise a barrier comes before each call and is not timed.
  bool in_a_row = false;
};

struct Measurement {
  Cell cell{};
  bool is_disturbed = false;  ///< the figures do not show the fastest: they scatter, or other work took the cores
};

/// The names of the candidates that can be chosen for a target, the untuned choice first. Equal on all ranks.
[[nodiscard]] std::vector<std::string> candidates_for(const Communicator& comm, const Target& target);

/// The time that measure() is going to take if it is not disturbed, by the models' predictions. Equal on all ranks.
[[nodiscard]] double expected_seconds(const Communicator& comm, const Target& target, const Effort& effort);

/// Measures the candidates of a target: the seconds of a call on the slowest rank, each the median over rounds in which
/// the candidates alternate. Disturbed measurements are prolonged. A target whose size only some ranks know gets the
/// geometric mean over blocks of 1 KiB, 32 KiB and 1 MiB. Collective; the same result on all ranks.
[[nodiscard]] Measurement measure(const Communicator& comm, const Target& target, const Effort& effort);

}  // namespace tutti::detail::tuning
