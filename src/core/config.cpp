// SPDX-License-Identifier: BSD-3-Clause
#include "core/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <tutti/error.hpp>

#include "core/variables.hpp"

namespace tutti::detail {
namespace {

bool is_exact(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr && std::string_view(text) == "exact";
}

/// Exact sums come with the order of the ranks for all that is no sum.
bool read_reproducible(const char* name) {
  try {
    return is_exact(name) || read_flag(name);
  } catch (const Error&) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}={} is not known; set it to 0, 1 or exact", name, std::getenv(name)));
  }
}

CalibrationMode read_calibration(const char* name) {
  const char* text = std::getenv(name);
  const std::string_view value = text == nullptr ? "" : text;
  if (value.empty()) return CalibrationMode::automatic;
  if (value == "off") return CalibrationMode::off;
  if (value == "file") return CalibrationMode::file;
  if (value == "now") return CalibrationMode::now;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}={} is not known; set it to off, file or now, or leave it unset", name, value));
}

std::optional<bool> read_choice(const char* name) {
  if (std::getenv(name) == nullptr) return std::nullopt;
  return read_flag(name);
}

/// Which of its words TUTTI_LOG has: "1", "summary", or both, joined by a comma.
struct Logs {
  bool warnings = false;
  bool summary = false;
};

Logs read_logs(const char* name) {
  const char* text = std::getenv(name);
  Logs logs;
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word == "summary") {
      logs.summary = true;
    } else if (word == "1" || word == "on" || word == "true") {
      logs.warnings = true;
    } else if (word != "0" && word != "off" && word != "false") {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}={} is not known; set it to 0, 1, summary or 1,summary", name, text));
    }
  }
  return logs;
}

int read_check(const char* name) {
  const char* text = std::getenv(name);
  if (text != nullptr && std::string_view(text) == "2") return 2;
  try {
    return read_flag(name) ? 1 : 0;
  } catch (const Error&) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}={} is not known; set it to 0, 1 or 2", name, text));
  }
}

std::chrono::nanoseconds read_seconds(const char* name) {
  const char* text = std::getenv(name);
  const std::string_view value = text == nullptr ? "" : text;
  if (value.empty()) return std::chrono::nanoseconds{0};
  double seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error != std::errc() || end != value.data() + value.size() || !(seconds >= 0) || seconds > 1e9)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}={} is not a number from 0 to 1e9, in seconds; 0 means none", name, text));
  return std::chrono::nanoseconds{static_cast<std::int64_t>(seconds * 1e9)};
}

/// TUTTI_FLIGHT: a switch, or the folder where recorders stay.
std::string read_folder(const char* name) {
  const char* text = std::getenv(name);
  const std::string_view value = text == nullptr ? "" : text;
  if (value == "." || value.find('/') != std::string_view::npos) return std::string(value);
  try {
    (void)read_flag(name);
  } catch (const Error&) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{0}={1} is no switch, and no path; set it to 0 or 1, or to ./{1} for a folder", name, value));
  }
  return {};
}

bool has_flight(const char* name) { return !read_folder(name).empty() || read_flag(name, true); }

/// TUTTI_TRACE: a file, wherever the program goes; empty or 0: none.
std::string read_file(const char* name) {
  const char* text = std::getenv(name);
  const std::string_view value = text == nullptr ? "" : text;
  if (value.empty() || value == "0") return {};
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(value, error);
  return error ? std::string(value) : whole.string();
}

/// Traces and checksums are written by the flight recorder.
bool has_recorder() {
  return has_flight("TUTTI_FLIGHT") || !read_file("TUTTI_TRACE").empty() || read_flag("TUTTI_CHECKSUM");
}

std::uint32_t read_entries(const char* name) {
  constexpr long least = 64;
  constexpr long most = 1L << 20;
  const char* text = std::getenv(name);
  // Two runs are compared from their beginning on.
  constexpr std::uint32_t with_checksums = 65536;
  if (text == nullptr || *text == '\0') return read_flag("TUTTI_CHECKSUM") ? with_checksums : Config{}.flight_entries;
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  if (end == text || *end != '\0' || number < least || number > most)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}={} is not a number from {} to {}", name, text, least, most));
  return std::bit_ceil(static_cast<std::uint32_t>(number));
}

}  // namespace

const Config& config() {
  static const Config read{.reproducible = read_reproducible("TUTTI_REPRODUCIBLE"),
                           .exact = is_exact("TUTTI_REPRODUCIBLE"),
                           .progress_thread = read_flag("TUTTI_PROGRESS_THREAD"),
                           .progress_hook = read_flag("TUTTI_PROGRESS_HOOK", true),
                           .timeout = read_seconds("TUTTI_TIMEOUT"),
                           .shared_memory = read_flag("TUTTI_SHM", true),
                           .single_copy = read_flag("TUTTI_SINGLE_COPY", true),
                           .xpmem = read_flag("TUTTI_XPMEM", true),
                           .trials = read_flag("TUTTI_TRIALS", true),
                           .calibration = read_calibration("TUTTI_CALIBRATION"),
                           .nccl = read_flag("TUTTI_NCCL", true),
                           .nccl_blocking = read_flag("TUTTI_NCCL_BLOCKING", true),
                           .nccl_register = read_flag("TUTTI_NCCL_REGISTER"),
                           .cuda_aware = read_choice("TUTTI_CUDA_AWARE"),
                           .flight_entries = has_recorder() ? read_entries("TUTTI_FLIGHT_ENTRIES") : 0,
                           .flight_folder = read_folder("TUTTI_FLIGHT"),
                           .checksums = read_flag("TUTTI_CHECKSUM"),
                           .heartbeat = read_seconds("TUTTI_HEARTBEAT"),
                           .trace_file = read_file("TUTTI_TRACE"),
                           .watchdog = read_seconds("TUTTI_WATCHDOG"),
                           .watchdog_aborts = read_flag("TUTTI_WATCHDOG_ABORT"),
                           .logs = read_logs("TUTTI_LOG").warnings,
                           .check = read_check("TUTTI_CHECK"),
                           .summary = read_logs("TUTTI_LOG").summary};
  return read;
}

void log_once(const std::string& line) {
  if (!config().logs) return;
  static std::mutex mutex;
  static std::set<std::string> written;
  const std::lock_guard lock(mutex);
  if (!written.insert(line).second) return;
  const std::string whole = "tutti: " + line + "\n";
  std::fputs(whole.c_str(), stderr);
}

}  // namespace tutti::detail
