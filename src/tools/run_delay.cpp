// SPDX-License-Identifier: BSD-3-Clause
#include "tools/race.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace tutti::detail::tuning {

RunDelay::RunDelay() : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

RunDelay::~RunDelay() {
  if (file_ >= 0) ::close(file_);
}

double RunDelay::seconds() const {
  std::array<char, 96> text{};
  if (file_ < 0 || ::pread(file_, text.data(), text.size() - 1, 0) <= 0) return 0;
  unsigned long long ran = 0;
  unsigned long long waited = 0;
  return std::sscanf(text.data(), "%llu %llu", &ran, &waited) == 2 ? static_cast<double>(waited) * 1e-9 : 0;
}

}  // namespace tutti::detail::tuning
