// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/results.hpp"
#include "options.hpp"

namespace dlrm {

/// The lines by which MLPerf's rules judge a run (":::MLLOG" and JSON, as its package mlperf_logging writes them), each
/// written when it happens. One rank has the file; on others, and without a path, all functions do nothing.
class MlperfLog {
 public:
  MlperfLog() = default;
  /// Begins the file: the benchmark's name, and the start of initialization. Throws tutti::Error (io) that names it.
  explicit MlperfLog(const std::filesystem::path& path);

  /// Ends initialization: what is trained, and the start of the run and of its epoch.
  void begin(const Options& options, std::uint64_t train_samples, std::uint64_t test_samples);
  /// Around a test, after so many epochs.
  void begin_test(double epochs);
  void end_test(double epochs, const tutti::miniapps::TestPoint& test);
  /// Ends the epoch and the run, with the status "success" or "aborted".
  void end(const std::string& status);

 private:
  enum class Event { point, start, end };
  void write(Event event, const std::string& key, const nlohmann::ordered_json& value,
             const nlohmann::ordered_json& metadata);
  void write(Event event, const std::string& key, const nlohmann::ordered_json& value);

  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace dlrm
