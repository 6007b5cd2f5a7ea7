// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tutti::detail::shm {

/// XPMEM's interface. Its types are declared here, because the library is opened when the program runs and its header
/// need not be installed.
struct Xpmem {
  /// Counterpart of struct xpmem_addr: an offset in the segment that an access permit opens.
  struct Address {
    std::int64_t permit;
    off_t offset;
  };
  static constexpr std::size_t whole_address_space = static_cast<std::size_t>(-1L);  ///< XPMEM_MAXADDR_SIZE
  static constexpr int permit_mode = 1;                                              ///< XPMEM_PERMIT_MODE
  static constexpr int read_write = 2;                                               ///< XPMEM_RDWR

  std::int64_t (*make)(void* begin, std::size_t bytes, int permit_type, void* permit_value) = nullptr;
  int (*remove)(std::int64_t segment) = nullptr;
  std::int64_t (*get)(std::int64_t segment, int flags, int permit_type, void* permit_value) = nullptr;
  int (*release)(std::int64_t permit) = nullptr;
  void* (*attach)(Address address, std::size_t bytes, void* here) = nullptr;
  int (*detach)(void* here) = nullptr;
};

/// The functions of libxpmem, or null. `why` stays empty if nothing is amiss: XPMEM is switched off, or no library is
/// installed and none is named.
[[nodiscard]] const Xpmem* xpmem(std::string& why);

/// The id of the segment through which other processes of the same user reach this process's whole address space, or 0.
/// Made once per process; the driver removes it when the process ends, so that no peer loses memory that it still uses.
[[nodiscard]] std::int64_t own_segment(std::string& why);

}  // namespace tutti::detail::shm
