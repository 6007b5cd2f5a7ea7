// SPDX-License-Identifier: BSD-3-Clause
#include "mlperf_log.hpp"

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <tutti/error.hpp>

namespace dlrm {

namespace {

using Json = nlohmann::ordered_json;

std::int64_t milliseconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace

MlperfLog::MlperfLog(const std::filesystem::path& path) : path_(path), file_(path) {
  write(Event::point, "submission_benchmark", "dlrm_dcnv2");
  write(Event::start, "init_start", nullptr);
}

void MlperfLog::write(Event event, const std::string& key, const Json& value, const Json& metadata) {
  if (path_.empty()) return;
  static constexpr std::array names{"POINT_IN_TIME", "INTERVAL_START", "INTERVAL_END"};
  const Json line = {{"namespace", ""},
                     {"time_ms", milliseconds_since_1970()},
                     {"event_type", names[static_cast<std::size_t>(event)]},
                     {"key", key},
                     {"value", value},
                     {"metadata", metadata}};
  file_ << ":::MLLOG " << line.dump(-1, ' ', true, Json::error_handler_t::replace) << std::endl;
  if (!file_) throw tutti::Error(tutti::ErrorCode::io, "cannot write " + path_.string());
}

void MlperfLog::write(Event event, const std::string& key, const Json& value) {
  write(event, key, value, Json::object());
}

void MlperfLog::begin(const Options& options, std::uint64_t train_samples, std::uint64_t test_samples) {
  write(Event::point, "seed", options.seed);
  write(Event::point, "global_batch_size", options.mini_batch_size);
  write(Event::point, "gradient_accumulation_steps", 1);
  write(Event::point, "opt_name", options.optimizer);
  write(Event::point, "opt_base_learning_rate", options.learning_rate);
  write(Event::point, "train_samples", train_samples);
  write(Event::point, "eval_samples", test_samples);
  write(Event::end, "init_stop", nullptr);
  write(Event::start, "run_start", nullptr);
  write(Event::start, "epoch_start", nullptr, {{"epoch_num", 1}});
}

void MlperfLog::begin_test(double epochs) { write(Event::start, "eval_start", nullptr, {{"epoch_num", epochs}}); }

void MlperfLog::end_test(double epochs, const tutti::miniapps::TestPoint& test) {
  write(Event::point, "eval_accuracy", test.metrics.auc, {{"epoch_num", epochs}});
  write(Event::end, "eval_stop", nullptr, {{"epoch_num", epochs}});
}

void MlperfLog::end(const std::string& status) {
  write(Event::end, "epoch_stop", nullptr, {{"epoch_num", 1}});
  write(Event::end, "run_stop", nullptr, {{"status", status}});
}

}  // namespace dlrm
