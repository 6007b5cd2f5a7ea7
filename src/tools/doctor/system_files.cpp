// SPDX-License-Identifier: BSD-3-Clause
#include "tools/doctor/system_files.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

namespace tutti::tools::doctor {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// Cores that a control group of version 2 allows, from a line such as "50000 100000": microseconds of processor time
/// per period. 0 for "max 100000".
double cores_in(std::string_view line) {
  const auto parts = parts_of(line, ' ');
  if (parts.size() != 2) return 0;
  const auto quota = number_in<double>(parts[0]);
  const auto period = number_in<double>(parts[1]);
  return quota && period && *quota > 0 && *period > 0 ? *quota / *period : 0;
}

void add_cores(Limits& limits, double cores) {
  if (cores > 0 && (limits.group_cores == 0 || cores < limits.group_cores)) limits.group_cores = cores;
}

void add_memory(Limits& limits, std::uint64_t most, std::uint64_t used) {
  limits.group_bytes = std::min(limits.group_bytes, most);
  if (most != unlimited && used != unlimited)
    limits.group_free_bytes = std::min(limits.group_free_bytes, most - std::min(most, used));
}

void add_version_2(Limits& limits, const std::string& folder) {
  add_cores(limits, cores_in(first_line(folder + "/cpu.max")));
  add_memory(limits, limit_in(first_line(folder + "/memory.max")), limit_in(first_line(folder + "/memory.current")));
}

void add_version_1(Limits& limits, const std::string& folder, const std::string& controller) {
  if (controller == "cpu")
    add_cores(limits,
              cores_in(first_line(folder + "/cpu.cfs_quota_us") + " " + first_line(folder + "/cpu.cfs_period_us")));
  if (controller == "memory")
    add_memory(limits, limit_in(first_line(folder + "/memory.limit_in_bytes")),
               limit_in(first_line(folder + "/memory.usage_in_bytes")));
}

}  // namespace

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string whole_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string field_of(std::string_view status, std::string_view name) {
  for (const std::string& line : parts_of(status, '\n'))
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ':')
      return std::string(trimmed(std::string_view(line).substr(name.size() + 1)));
  return {};
}

std::string bracketed(std::string_view line) {
  const auto open = line.find('[');
  const auto close = line.find(']', open == std::string_view::npos ? line.size() : open);
  return close == std::string_view::npos ? std::string() : std::string(line.substr(open + 1, close - open - 1));
}

std::vector<int> numbers_in(std::string_view list) {
  std::vector<int> numbers;
  for (const std::string& part : parts_of(trimmed(list), ',')) {
    const auto ends = parts_of(part, '-');
    if (ends.empty()) continue;
    const auto first = number_in<int>(ends.front());
    const auto last = number_in<int>(ends.back());
    if (!first || !last) continue;
    for (int number = *first; number <= *last; ++number) numbers.push_back(number);
  }
  return numbers;
}

std::uint64_t limit_in(std::string_view line) {
  // Version 1 has no word for "no limit": it writes the greatest number of pages.
  constexpr std::uint64_t absurd = std::uint64_t{1} << 60U;
  const auto number = number_in<std::uint64_t>(trimmed(line));
  return number && *number < absurd ? *number : unlimited;
}

std::vector<GroupLine> group_lines(std::string_view text) {
  std::vector<GroupLine> lines;
  for (const std::string& line : parts_of(text, '\n')) {
    const auto first = line.find(':');
    const auto second = line.find(':', first == std::string::npos ? line.size() : first + 1);
    if (second == std::string::npos) continue;
    lines.push_back({parts_of(line.substr(first + 1, second - first - 1), ','), line.substr(second + 1)});
  }
  return lines;
}

std::vector<std::string> group_folders(const std::string& mount, const std::string& path) {
  std::vector<std::string> folders;
  for (std::string rest = path; rest.size() > 1; rest.resize(rest.rfind('/'))) {
    folders.push_back(mount + rest);
    if (rest.rfind('/') == std::string::npos) break;
  }
  folders.push_back(mount);
  return folders;
}

void add_group_limits(Limits& limits) {
  const std::string root = "/sys/fs/cgroup";
  for (const GroupLine& line : group_lines(whole_text("/proc/self/cgroup"))) {
    if (line.controllers.empty())
      for (const std::string& folder : group_folders(root, line.path)) add_version_2(limits, folder);
    for (const std::string& controller : line.controllers)
      for (const std::string& folder : group_folders(root + "/" + controller, line.path))
        add_version_1(limits, folder, controller);
  }
}

}  // namespace tutti::tools::doctor
