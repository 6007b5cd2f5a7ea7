// SPDX-License-Identifier: BSD-3-Clause
#include "core/log.hpp"

#include <cstdio>
#include <mutex>
#include <set>

#include "core/config.hpp"

namespace tutti::detail {

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
