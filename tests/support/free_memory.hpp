// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <cstddef>

namespace tutti::test {

/// Whether this machine has that much memory free, in GiB.
inline bool has_free_memory(std::size_t gib) {
  const auto pages = static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES));
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) > (gib << 30U);
}

}  // namespace tutti::test
