// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "metrics.hpp"
#include "show/text_file.hpp"  // check_writable

namespace tutti::miniapps {

struct LossPoint {
  std::uint64_t iteration = 0;
  double loss = 0;
};

struct TestPoint {
  std::uint64_t iteration = 0;
  Metrics metrics{};
};

/// What a run has to show.
struct Results {
  std::vector<std::pair<std::string, std::string>> configuration;
  int ranks = 1;
  std::vector<LossPoint> losses;  ///< as printed, in full precision
  std::vector<TestPoint> tests;
  double ms_per_iteration = 0;  ///< median
  double training_seconds = 0;
  std::vector<std::pair<std::string, double>> phases;     ///< milliseconds a step
  double exposed_communication_ms = 0;                    ///< a step
  std::vector<std::pair<std::string, double>> inference;  ///< of a run that only predicts
};

/// Writes `results` as JSON: configuration, ranks, losses (iteration, loss), tests (iteration, and the
/// metrics, of which those that are not defined are null), test (the last one), ms_per_iteration, training_seconds,
/// phases, exposed_communication_ms and, of a run that only predicts, inference. The file appears whole or not at all.
/// Throws tutti::Error (io) naming the file. One rank calls it.
void write_results(const std::filesystem::path& path, const Results& results);

}  // namespace tutti::miniapps
