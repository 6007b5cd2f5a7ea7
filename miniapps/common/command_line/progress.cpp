// SPDX-License-Identifier: BSD-3-Clause
#include "progress.hpp"

#include <unistd.h>

#include <algorithm>

namespace tutti::command_line {

namespace {

constexpr std::size_t bar_width = 30;

}  // namespace

std::string seconds_text(double seconds) {
  const auto s = static_cast<long>(seconds + 0.5);
  return s < 60 ? std::to_string(s) + " s" : std::to_string(s / 60) + " min " + std::to_string(s % 60) + " s";
}

Progress::Progress(std::string what, std::uint64_t total, bool enabled, std::FILE* out,
                   std::chrono::milliseconds line_interval)
    : what_(std::move(what)),
      total_(std::max<std::uint64_t>(total, 1)),
      enabled_(enabled),
      out_(out),
      terminal_(enabled && ::isatty(::fileno(out)) == 1),
      interval_(terminal_ ? std::chrono::milliseconds(100) : line_interval) {
  next_ = terminal_ ? begin_ : begin_ + interval_;
}

std::string Progress::line(std::uint64_t done, const std::string& note) const {
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
  const double spent = std::chrono::duration<double>(Clock::now() - begin_).count();
  std::string text = what_ + " ";
  if (terminal_) {
    const auto full = static_cast<std::size_t>(share * static_cast<double>(bar_width));
    text += "[" + std::string(full, '#') + std::string(bar_width - full, ' ') + "] ";
  }
  text += std::to_string(static_cast<int>(share * 100)) + "% " + std::to_string(done) + "/" + std::to_string(total_);
  if (done > 0 && done < total_) {
    text += ", " + seconds_text(spent * (1.0 - share) / share) + " left";
  }
  return note.empty() ? text : text + ", " + note;
}

void Progress::update(std::uint64_t done, const std::string& note) {
  if (!enabled_ || Clock::now() < next_) {
    return;
  }
  next_ = Clock::now() + interval_;
  const std::string text = line(done, note);
  if (terminal_) {
    std::fprintf(out_, "\r\033[K%s", text.c_str());
    drawn_ = true;
  } else {
    std::fprintf(out_, "%s\n", text.c_str());
  }
  std::fflush(out_);
}

void Progress::clear() {
  if (drawn_) {
    std::fputs("\r\033[K", out_);
    std::fflush(out_);
    drawn_ = false;
  }
}

void Progress::finish() {
  clear();
  enabled_ = false;
}

}  // namespace tutti::command_line
