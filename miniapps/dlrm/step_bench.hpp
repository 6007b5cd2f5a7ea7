// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "batch_feed.hpp"
#include "engine.hpp"
#include "options.hpp"

namespace dlrm {

/// Steps with one batch size; equal on all ranks.
struct StepTime {
  std::size_t batch = 0;
  double ms = 0;  ///< mean of all steps after the first few, with their communication, of the slowest rank
  std::uint64_t steps = 0;
};

/// Trains Options::num_batches steps with each of Options::bench_batches, on prepared batches. `part`: what the rank
/// reads. `on_time` is told each result. Collective over `comm`; blocking.
[[nodiscard]] std::vector<StepTime> bench_steps(const tutti::Communicator& comm, const Options& options, Engine& engine,
                                                const ReaderPart& part,
                                                const std::function<void(const StepTime&)>& on_time);

/// The head of a table, and a line of it: batch, milliseconds a step, samples a second.
[[nodiscard]] std::string step_head();
[[nodiscard]] std::string step_line(const StepTime& time);

}  // namespace dlrm
