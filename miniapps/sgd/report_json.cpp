// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <tutti/error.hpp>

#include "report.hpp"

namespace sgd {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Evaluation& e) {
  Json json{{"loss", e.loss}, {"samples", e.samples}};
  if (e.accuracy) {
    json["accuracy"] = *e.accuracy;
  }
  if (e.auc) {
    json["auc"] = *e.auc;
  }
  return json;
}

Json to_json(const ModeResults& m) {
  Json json{{"mode", m.mode}};
  if (!m.skipped.empty()) {
    json["skipped"] = m.skipped;
    return json;
  }
  json["losses"] = Json::array();
  for (const auto& entry : m.training.losses) {
    json["losses"].push_back({{"iteration", entry.step}, {"loss", entry.loss}});
  }
  if (m.test) {
    json["test"] = to_json(*m.test);
  }
  json["steps"] = m.training.steps;
  json["ms_per_iteration"] = m.training.ms_per_step;
  json["training_seconds"] = m.training.training_seconds;
  json["phases"] = Json::object();
  for (const auto& phase : m.training.phases) {
    json["phases"][phase.name] = phase.mean;
  }
  json["exposed_communication_ms"] = m.training.exposed_ms;
  json["bytes_per_step"] = m.training.bytes_per_step;
  return json;
}

}  // namespace

void write_json(const std::filesystem::path& path, const Configuration& configuration, int ranks,
                const std::vector<ModeResults>& modes) {
  Json json;
  json["configuration"] = Json::object();
  for (const auto& [name, value] : configuration) {
    json["configuration"][name] = value;
  }
  json["ranks"] = ranks;
  json["modes"] = Json::array();
  for (const auto& mode : modes) {
    json["modes"].push_back(to_json(mode));
  }
  const std::filesystem::path temporary = path.string() + ".tmp" + std::to_string(::getpid());
  std::ofstream file(temporary);
  file << json.dump(2, ' ', true, Json::error_handler_t::replace) << '\n';
  file.close();
  std::error_code error;
  if (file) {
    std::filesystem::rename(temporary, path, error);
  }
  if (!file || error) {
    std::filesystem::remove(temporary, error);
    throw tutti::Error(tutti::ErrorCode::io,
                       path.string() + ": cannot be written; name a file in a folder that can be");
  }
}

}  // namespace sgd
