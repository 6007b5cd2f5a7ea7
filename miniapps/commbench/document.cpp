// SPDX-License-Identifier: BSD-3-Clause
#include "document.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <tutti/environment.hpp>
#include <tutti/version.hpp>

namespace tutti::commbench {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson lines_of(const std::string& text) {
  OrderedJson facts = OrderedJson::array();
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) facts.push_back(line);
  return facts;
}

/// The processor's name, as Linux tells it; empty where it does not.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  return {};
}

std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::array<char, 16> text{};
  std::tm parts{};
  if (::gmtime_r(&now, &parts) != nullptr) (void)std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return text.data();
}

OrderedJson machine_json(const Communicator& comm) {
  return {{"processor", processor_name()},           {"ranks", comm.size()},
          {"nodes", comm.topology().nodes},          {"oversubscribed", comm.topology().oversubscribed},
          {"libraries", lines_of(config_summary())}, {"device", lines_of(comm.device_report())}};
}

}  // namespace

OrderedJson document_of(const Communicator& comm) {
  return {{"program", "tutti-commbench"},
          {"version", TUTTI_VERSION_STRING},
          {"date", date_text()},
          {"machine", machine_json(comm)}};
}

}  // namespace tutti::commbench
