// SPDX-License-Identifier: BSD-3-Clause
#include "day_files.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <tutti/error.hpp>

namespace tutti::miniapps {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_days(const fs::path& path, const std::string& what) {
  throw Error(ErrorCode::io, path.string() + ": " + what);
}

bool ends_as_text(std::string_view rest) { return rest.empty() || rest.starts_with('.'); }

}  // namespace

std::vector<std::pair<std::int64_t, fs::path>> days_in(const fs::path& folder, bool (*has_ending)(std::string_view)) {
  constexpr std::string_view prefix = "day_";
  std::vector<std::pair<std::int64_t, fs::path>> days;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) {
      continue;
    }
    std::int64_t number = -1;
    const char* end = name.data() + name.size();
    const auto [stop, status] = std::from_chars(name.data() + prefix.size(), end, number);
    if (status == std::errc() && number >= 0 && has_ending({stop, end})) {
      days.emplace_back(number, entry.path());
    }
  }
  std::ranges::sort(days);
  return days;
}

std::vector<fs::path> text_days(const fs::path& folder) {
  auto days = days_in(folder, ends_as_text);
  std::erase_if(days, [](const auto& day) { return !fs::is_regular_file(day.second); });
  std::vector<fs::path> paths;
  for (std::size_t i = 0; i < days.size(); ++i) {
    if (i > 0 && days[i].first == days[i - 1].first) {
      fail_days(days[i].second, "is day " + std::to_string(days[i].first) + " once more; keep one of both files");
    }
    paths.push_back(days[i].second);
  }
  return paths;
}

std::vector<fs::path> text_files(const fs::path& path) {
  if (!fs::is_directory(path)) {
    return {path};
  }
  auto paths = text_days(path);
  if (paths.empty()) {
    fail_days(path, "has no files day_0, day_1, ...; name the text files themselves");
  }
  return paths;
}

std::vector<std::uint64_t> cut_in_days(std::uint64_t count, std::uint64_t days) {
  std::vector<std::uint64_t> ends;
  for (std::uint64_t d = 0; d < days; ++d) {
    ends.push_back((ends.empty() ? 0 : ends.back()) + count / days + (d < count % days ? 1 : 0));
  }
  return ends;
}

std::pair<std::uint64_t, std::uint64_t> split_days(const std::vector<std::uint64_t>& day_ends) {
  const std::uint64_t all = day_ends.back();
  const std::uint64_t train = day_ends.size() == 1 ? all : day_ends[day_ends.size() - 2];
  return {train, (all - train + 1) / 2};
}

}  // namespace tutti::miniapps
