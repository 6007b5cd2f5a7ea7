// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <tutti/options.hpp>

namespace tutti::detail {

/// Where the costs of the machine come from.
enum class CalibrationMode : std::uint8_t {
  automatic,  ///< the user's cache, or else a measurement, which the cache then keeps
  off,        ///< the prior
  file,       ///< the user's cache, or else the prior
  now,        ///< a measurement, whatever the cache has
};

/// The settings of the environment variables TUTTI_*, read once. The communicator factory checks that ranks agree
/// where they must.
struct Config {
  bool reproducible = false;                                 ///< TUTTI_REPRODUCIBLE
  bool exact = false;                                        ///< TUTTI_REPRODUCIBLE=exact
  bool progress_thread = false;                              ///< TUTTI_PROGRESS_THREAD
  bool progress_hook = true;                                 ///< TUTTI_PROGRESS_HOOK
  std::chrono::nanoseconds timeout{0};                       ///< TUTTI_TIMEOUT, in seconds
  bool shared_memory = true;                                 ///< TUTTI_SHM
  bool single_copy = true;                                   ///< TUTTI_SINGLE_COPY
  bool xpmem = true;                                         ///< TUTTI_XPMEM; ranks may differ
  bool trials = true;                                        ///< TUTTI_TRIALS
  CalibrationMode calibration = CalibrationMode::automatic;  ///< TUTTI_CALIBRATION
  bool nccl = true;                                          ///< TUTTI_NCCL
  bool nccl_blocking = true;                                 ///< TUTTI_NCCL_BLOCKING
  bool nccl_register = false;                                ///< TUTTI_NCCL_REGISTER
  std::optional<bool> cuda_aware{};                          ///< TUTTI_CUDA_AWARE; empty if unset
  std::uint32_t flight_entries = 1024;                       ///< TUTTI_FLIGHT_ENTRIES; 0: there is no recorder
  std::string flight_folder{};                               ///< TUTTI_FLIGHT; empty: the recorder has no file
  bool checksums = false;                                    ///< TUTTI_CHECKSUM: the recorder has those of data
  std::chrono::nanoseconds heartbeat{0};                     ///< TUTTI_HEARTBEAT, in seconds; 0: none
  std::string trace_file{};                                  ///< TUTTI_TRACE; empty: no trace
  std::chrono::nanoseconds watchdog{0};                      ///< TUTTI_WATCHDOG, in seconds; 0: none
  bool watchdog_aborts = false;                              ///< TUTTI_WATCHDOG_ABORT
  bool logs = false;                                         ///< TUTTI_LOG=1: write warnings to standard error
  int check = 0;                                             ///< TUTTI_CHECK: 0, 1 or 2
  bool summary = false;  ///< TUTTI_LOG=summary: count calls, and list them at the end
};

/// Throws Error(invalid_argument) that names the variable if a value cannot be read.
[[nodiscard]] const Config& config();

/// The accumulation of a call that asks for this one.
[[nodiscard]] inline Accumulation accumulation_of(Accumulation asked) {
  return config().exact ? Accumulation::exact : asked;
}

/// Writes a line to standard error if TUTTI_LOG=1 is set, and each distinct line only once per process.
void log_once(const std::string& line);

}  // namespace tutti::detail
