// SPDX-License-Identifier: BSD-3-Clause
#include "tools/units.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "tools/program.hpp"

namespace tutti::tools {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 14> suffixes = {{
    {"", 1.0},
    {"B", 1.0},
    {"K", 1024.0},
    {"KiB", 1024.0},
    {"M", 1048576.0},
    {"MiB", 1048576.0},
    {"G", 1073741824.0},
    {"GiB", 1073741824.0},
    {"k", 1024.0},
    {"m", 1048576.0},
    {"g", 1073741824.0},
    {"kB", 1e3},
    {"MB", 1e6},
    {"GB", 1e9},
}};

}  // namespace

std::size_t parse_bytes(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (!suffix.empty() && suffix.front() == ' ') suffix.remove_prefix(1);
  for (const auto& [name, factor] : suffixes) {
    if (error != std::errc{} || suffix != name) continue;
    const double bytes = value * factor;
    if (bytes >= 0 && bytes < 9e15 && bytes == std::floor(bytes)) return static_cast<std::size_t>(bytes);
  }
  throw UsageError(
      fmt::format("--bytes: '{}' is not a size in bytes in [0, 8P]; write it as 64, 4KiB, 1MiB or 2G", text));
}

std::string bytes_text(double bytes) {
  constexpr std::array<std::string_view, 4> units = {"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", bytes, units[unit]);
}

std::string seconds_text(double seconds) {
  const auto digits = [](double value) { return value < 10 ? 2 : value < 100 ? 1 : 0; };
  if (seconds < 1e-3) return fmt::format("{:.{}f} us", seconds * 1e6, digits(seconds * 1e6));
  if (seconds < 1) return fmt::format("{:.{}f} ms", seconds * 1e3, digits(seconds * 1e3));
  return fmt::format("{:.{}f} s", seconds, digits(seconds));
}

}  // namespace tutti::tools
