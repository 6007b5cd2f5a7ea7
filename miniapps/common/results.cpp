// SPDX-License-Identifier: BSD-3-Clause
#include "results.hpp"

#include <nlohmann/json.hpp>

namespace tutti::miniapps {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const TestPoint& point) {
  const Metrics& metrics = point.metrics;
  return {{"iteration", point.iteration},
          {"auc", metrics.auc},
          {"accuracy", metrics.accuracy},
          {"log_loss", metrics.log_loss},
          {"normalized_entropy", metrics.normalized_entropy},
          {"calibration", metrics.calibration},
          {"samples", metrics.samples}};
}

Json to_json(const Results& results) {
  Json json;
  json["configuration"] = Json::object();
  for (const auto& [name, value] : results.configuration) {
    json["configuration"][name] = value;
  }
  json["ranks"] = results.ranks;
  json["losses"] = Json::array();
  for (const LossPoint& point : results.losses) {
    json["losses"].push_back({{"iteration", point.iteration}, {"loss", point.loss}});
  }
  for (const TestPoint& point : results.tests) {
    json["tests"].push_back(to_json(point));
  }
  if (!results.tests.empty()) {
    json["test"] = json["tests"].back();
  }
  json["ms_per_iteration"] = results.ms_per_iteration;
  json["training_seconds"] = results.training_seconds;
  json["phases"] = Json::object();
  for (const auto& [name, milliseconds] : results.phases) {
    json["phases"][name] = milliseconds;
  }
  json["exposed_communication_ms"] = results.exposed_communication_ms;
  for (const auto& [name, value] : results.inference) {
    json["inference"][name] = value;
  }
  return json;
}

}  // namespace

void write_results(const std::filesystem::path& path, const Results& results) {
  write_text(path, to_json(results).dump(2, ' ', true, Json::error_handler_t::replace) + "\n");
}

}  // namespace tutti::miniapps
