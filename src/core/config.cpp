// SPDX-License-Identifier: BSD-3-Clause
#include "core/config.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <tutti/error.hpp>

namespace tutti::detail {
namespace {

bool read_flag(const char* name, bool otherwise = false) {
  const char* text = std::getenv(name);
  if (text == nullptr) return otherwise;
  const std::string_view value{text};
  if (value.empty() || value == "0" || value == "off" || value == "false") return false;
  if (value == "1" || value == "on" || value == "true") return true;
  throw Error(ErrorCode::invalid_argument, fmt::format("{}={} is not a switch; set it to 0 or 1", name, value));
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

std::chrono::nanoseconds read_seconds(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::chrono::nanoseconds{0};
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(seconds >= 0) || seconds > 1e9)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}={} is not a number from 0 to 1e9, in seconds; 0 means no timeout", name, text));
  return std::chrono::nanoseconds{static_cast<std::int64_t>(seconds * 1e9)};
}

}  // namespace

const Config& config() {
  static const Config read{.reproducible = read_flag("TUTTI_REPRODUCIBLE"),
                           .progress_thread = read_flag("TUTTI_PROGRESS_THREAD"),
                           .timeout = read_seconds("TUTTI_TIMEOUT"),
                           .shared_memory = read_flag("TUTTI_SHM", true),
                           .single_copy = read_flag("TUTTI_SINGLE_COPY", true),
                           .xpmem = read_flag("TUTTI_XPMEM", true),
                           .trials = read_flag("TUTTI_TRIALS", true),
                           .calibration = read_calibration("TUTTI_CALIBRATION"),
                           .nccl = read_flag("TUTTI_NCCL", true),
                           .nccl_blocking = read_flag("TUTTI_NCCL_BLOCKING"),
                           .nccl_register = read_flag("TUTTI_NCCL_REGISTER"),
                           .cuda_aware = read_choice("TUTTI_CUDA_AWARE"),
                           .logs = read_flag("TUTTI_LOG")};
  return read;
}

}  // namespace tutti::detail
