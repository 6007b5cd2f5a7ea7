// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "options.hpp"
#include "run_results.hpp"
#include "source.hpp"

namespace sgd {

using Configuration = std::vector<std::pair<std::string, std::string>>;

/// What one mode gave.
struct ModeResults {
  std::string mode;
  std::string skipped;  ///< why it was not run; empty when it was
  TrainingResults training;
  std::optional<Evaluation> test;
};

/// "overlap", "hook=bf16", ...
[[nodiscard]] std::string mode_name(const Options& options);

/// What is run, name and value, for the header and for --json-file.
[[nodiscard]] Configuration configuration(const Options& options, const std::vector<std::size_t>& widths,
                                          const Source& source);
[[nodiscard]] std::string header_text(const Configuration& configuration, int ranks);
[[nodiscard]] std::string loss_text(const LossEntry& entry, std::uint64_t batches);
[[nodiscard]] std::string test_text(const Evaluation& evaluation);
/// A table of where the time of a step went.
[[nodiscard]] std::string phase_text(const TrainingResults& results);
/// A line a mode: loss, time, exposed communication, bytes.
[[nodiscard]] std::string compare_text(const std::vector<ModeResults>& modes);

/// Writes all of it as JSON; the file appears whole or not at all. Throws tutti::Error (io) naming it. One rank calls
/// it.
void write_json(const std::filesystem::path& path, const Configuration& configuration, int ranks,
                const std::vector<ModeResults>& modes);

}  // namespace sgd
