// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "topology/network_source.hpp"

namespace tutti::detail {
namespace {

/// One switch or block.
struct Record {
  std::string name{};
  std::string nodes{};
  std::string switches{};
};

bool equal_but_for_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// The line without its comment; one that ends with a backslash goes on in the next.
std::string take_line(std::string_view& text) {
  std::string line;
  for (bool goes_on = true; goes_on && !text.empty();) {
    std::string_view part = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    part = part.substr(0, part.find('#'));
    while (!part.empty() && std::isspace(static_cast<unsigned char>(part.back())) != 0) part.remove_suffix(1);
    goes_on = part.ends_with('\\');
    line += part.substr(0, part.size() - (goes_on ? 1 : 0));
  }
  return line;
}

Record record_of(std::string_view line) {
  Record record;
  constexpr std::string_view blanks = " \t\r";
  for (std::size_t begin = line.find_first_not_of(blanks); begin != std::string_view::npos;) {
    const std::string_view word = line.substr(begin, line.find_first_of(blanks, begin) - begin);
    const std::string_view key = word.substr(0, word.find('='));
    const std::string_view value = key.size() < word.size() ? word.substr(key.size() + 1) : "";
    if (equal_but_for_case(key, "SwitchName") || equal_but_for_case(key, "BlockName")) record.name = value;
    if (equal_but_for_case(key, "Nodes")) record.nodes = value;
    if (equal_but_for_case(key, "Switches")) record.switches = value;
    begin = line.find_first_not_of(blanks, begin + word.size());
  }
  return record;
}

std::vector<Record> records_in(std::string_view text) {
  std::vector<Record> records;
  while (!text.empty())
    if (Record record = record_of(take_line(text)); !record.name.empty()) records.push_back(std::move(record));
  return records;
}

}  // namespace

NetworkPath path_in_slurm_file(std::string_view text, std::string_view node) {
  const std::vector<Record> records = records_in(text);
  if (records.empty()) return {{}, "it has no line with SwitchName or BlockName"};
  auto found = std::ranges::find_if(records, [&](const Record& one) { return host_list_has(one.nodes, node); });
  if (found == records.end()) return {{}, fmt::format("it does not name the node '{}'", node)};
  NetworkPath path;
  while (found != records.end()) {
    if (path.groups.size() == records.size()) return {{}, fmt::format("the switch '{}' is above itself", found->name)};
    path.groups.insert(path.groups.begin(), found->name);
    const std::string& below = path.groups.front();
    found = std::ranges::find_if(records, [&](const Record& one) { return host_list_has(one.switches, below); });
  }
  return path;
}

}  // namespace tutti::detail
