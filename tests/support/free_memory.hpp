// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <fstream>
#include <limits>
#include <string>

namespace tutti::test {

/// Whether this machine has that much memory, in GiB, for a new program. The system's count of it includes the cache of
/// files, which gives way.
inline bool has_free_memory(std::size_t gib) {
  std::ifstream file("/proc/meminfo");
  std::size_t kib = 0;
  for (std::string name; file >> name;) {
    if (name == "MemAvailable:" && file >> kib) break;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return kib > (gib << 20U);
}

}  // namespace tutti::test
