// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "options.hpp"
#include "workload.hpp"

namespace CLI {
class App;
}

namespace sgd {

/// What the studies are told beside the flags of training, of which they use those of data, model and communication.
struct WorkloadFlags {
  std::string network;  ///< --workload; empty: the task that would be trained
  std::string load = "sleep";
  double forward_ms = -1;  ///< below 0: half of backward where parts of a step are shown, else none
  double backward_ms = 400;
  double interval_us = 100;
  std::size_t steps = 10;
  std::size_t warm_up = 3;
  std::string methods;  ///< --study-modes; empty: what the study has
  std::string scaling;  ///< weak, strong; empty: not
  bool breakdown = false;
  bool sweep = false;
  std::string svg_file;
};

void add_workload_flags(CLI::App& app, WorkloadFlags& flags);

/// Throws tutti::Error (invalid_argument) that names the flag. Local.
void validate(const WorkloadFlags& flags, const Options& options);

/// The methods of --study-modes, or of `usual`; the first is none.
[[nodiscard]] std::vector<Method> methods_of(const WorkloadFlags& flags, const Options& options,
                                             const std::string& usual);
[[nodiscard]] Workload workload_of(const WorkloadFlags& flags);

}  // namespace sgd
