// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace tutti::command_line {

/// "8 s", "2 min 5 s".
[[nodiscard]] std::string seconds_text(double seconds);

/// Shows the progress of a run and the time left: a bar that redraws itself if stderr is a terminal, else, as under
/// mpiexec, a plain line every few seconds. One rank has one; `enabled` false makes it silent.
class Progress {
 public:
  Progress(std::string what, std::uint64_t total, bool enabled, std::FILE* out = stderr,
           std::chrono::milliseconds line_interval = std::chrono::seconds(5));
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `note` follows the figures, for instance the last loss.
  void update(std::uint64_t done, const std::string& note = {});
  /// Removes the bar, so that other output can follow; the next update draws it again.
  void clear();
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] std::string line(std::uint64_t done, const std::string& note) const;

  std::string what_;
  std::uint64_t total_;
  bool enabled_;
  std::FILE* out_;
  bool terminal_;
  bool drawn_ = false;
  Clock::duration interval_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_ = begin_;
};

}  // namespace tutti::command_line
