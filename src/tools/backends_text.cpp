// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/backends.hpp"
#include "topology/columns.hpp"

namespace tutti::tools {
namespace {

std::string_view support_name(Support support) {
  constexpr std::array<std::string_view, 6> names = {"-", "native", "composed", "staged", "absent", "not built"};
  return names[static_cast<std::size_t>(support)];
}

std::string cell_text(const BackendCell& cell) {
  return fmt::format("{}{}", support_name(cell.support), cell.limits.empty() ? "" : "*");
}

/// One line for each backend and limit: "* native: …: allreduce, reduce".
std::string limits_text(const BackendTable& table) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> operations;
  for (const auto& row : table.rows)
    for (std::size_t b = 0; b < row.host.size(); ++b) {
      if (!row.host[b].limits.empty()) operations[{table.backends[b], row.host[b].limits}].push_back(row.operation);
      if (!row.device[b].limits.empty())
        operations[{table.backends[b] + " on the device", row.device[b].limits}].push_back(row.operation);
    }
  std::string text;
  for (const auto& [limit, names] : operations)
    text += fmt::format("* {}, {}: {}\n", limit.first, fmt::join(names, ", "), limit.second);
  return text;
}

nlohmann::ordered_json cell_json(const BackendCell& cell) {
  nlohmann::ordered_json value = {{"support", cell.support == Support::none ? "none" : support_name(cell.support)}};
  if (!cell.limits.empty()) value["limits"] = cell.limits;
  return value;
}

}  // namespace

std::string backends_text(const BackendTable& table) {
  detail::TextRows rows(2);
  rows[0].emplace_back("backend");
  rows[1].emplace_back("memory");
  for (const std::string& backend : table.backends) {
    rows[0].insert(rows[0].end(), {backend, ""});
    rows[1].insert(rows[1].end(), {"host", "device"});
  }
  for (const auto& row : table.rows) {
    rows.push_back({row.operation});
    for (std::size_t b = 0; b < row.host.size(); ++b)
      rows.back().insert(rows.back().end(), {cell_text(row.host[b]), cell_text(row.device[b])});
  }
  std::string text = detail::in_columns(rows) + "\n" + limits_text(table);
  text +=
      "\nnative     an operation of the backend's own\n"
      "composed   of messages, by a schedule that was checked\n"
      "staged     device data goes through host memory\n"
      "absent     not on this machine or in this job\n"
      "not built  not in this build\n"
      "-          not\n\n";
  for (const std::string& fact : table.facts) text += fact + "\n";
  return text;
}

std::string backends_json(const BackendTable& table) {
  nlohmann::ordered_json value;
  for (const auto& row : table.rows)
    for (std::size_t b = 0; b < row.host.size(); ++b)
      value["operations"][row.operation][table.backends[b]] = {{"host", cell_json(row.host[b])},
                                                               {"device", cell_json(row.device[b])}};
  value["facts"] = table.facts;
  return value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tutti::tools
