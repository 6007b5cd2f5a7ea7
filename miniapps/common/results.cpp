// SPDX-License-Identifier: BSD-3-Clause
#include "results.hpp"

#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <tutti/error.hpp>

namespace tutti::miniapps {

namespace {

using Json = nlohmann::ordered_json;

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
  if (results.test) {
    json["test"] = {{"auc", results.test->auc},
                    {"accuracy", results.test->accuracy},
                    {"log_loss", results.test->log_loss},
                    {"samples", results.test->samples}};
  }
  json["ms_per_iteration"] = results.ms_per_iteration;
  json["training_seconds"] = results.training_seconds;
  json["phases"] = Json::object();
  for (const auto& [name, milliseconds] : results.phases) {
    json["phases"][name] = milliseconds;
  }
  json["exposed_communication_ms"] = results.exposed_communication_ms;
  return json;
}

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  return path.string() + ".tmp" + std::to_string(::getpid());
}

[[noreturn]] void fail(const std::filesystem::path& path) {
  throw Error(ErrorCode::io, path.string() + ": cannot be written; name a file in a folder that can be written");
}

}  // namespace

void write_results(const std::filesystem::path& path, const Results& results) {
  const auto temporary = temporary_name(path);
  std::ofstream file(temporary);
  file << to_json(results).dump(2, ' ', true, Json::error_handler_t::replace) << '\n';
  file.close();
  std::error_code error;
  if (file) {
    std::filesystem::rename(temporary, path, error);
  }
  if (!file || error) {
    std::filesystem::remove(temporary, error);
    fail(path);
  }
}

void check_writable(const std::filesystem::path& path) {
  const auto temporary = temporary_name(path);
  std::error_code error;
  const bool writable = std::ofstream(temporary).good() && !std::filesystem::is_directory(path, error);
  std::filesystem::remove(temporary, error);
  if (!writable) {
    fail(path);
  }
}

}  // namespace tutti::miniapps
