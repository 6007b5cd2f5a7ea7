// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/resource.h>

#include <cstddef>

namespace tutti::detail {

/// Returns true if a file of so many bytes is longer than this process may make one: the kernel would end the process
/// by a signal instead of refusing.
[[nodiscard]] inline bool exceeds_file_limit(std::size_t bytes) noexcept {
  rlimit longest{};
  return getrlimit(RLIMIT_FSIZE, &longest) == 0 && bytes > longest.rlim_cur;
}

}  // namespace tutti::detail
