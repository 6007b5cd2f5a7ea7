// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fcntl.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstddef>

namespace tutti::detail {

/// Returns true if a file of so many bytes is longer than this process may make one: the kernel would end the process
/// by a signal instead of refusing.
[[nodiscard]] inline bool exceeds_file_limit(std::size_t bytes) noexcept {
  rlimit longest{};
  return getrlimit(RLIMIT_FSIZE, &longest) == 0 && bytes > longest.rlim_cur;
}

/// Takes room for bytes of a file that will be mapped: a write to a page without room would end the process. Returns an
/// error number, or 0. For few bytes: a signal makes the kernel begin anew.
[[nodiscard]] inline int reserve_file(int file, std::size_t begin, std::size_t bytes) noexcept {
  int error = EFBIG;
  if (!exceeds_file_limit(begin + bytes)) do
      error = posix_fallocate(file, static_cast<off_t>(begin), static_cast<off_t>(bytes));
    while (error == EINTR);
  return error;
}

}  // namespace tutti::detail
