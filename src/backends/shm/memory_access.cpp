// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/peer_memory.hpp"

#include <fmt/format.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <tutti/error.hpp>

#include "call/execution.hpp"

namespace tutti::detail::shm {
namespace {

using Transfer = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

/// Repeats the call, because the kernel may stop short of the end. Returns 0 when all is done, else the error.
int transfer_all(Transfer transfer, pid_t process, std::uint64_t address, void* local, std::size_t bytes) noexcept {
  auto* here = static_cast<std::byte*>(local);
  while (bytes > 0) {
    const iovec mine{here, bytes};
    const iovec theirs{reinterpret_cast<void*>(address), bytes};  // NOLINT(performance-no-int-to-ptr)
    const ssize_t moved = transfer(process, &mine, 1, &theirs, 1, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return moved < 0 ? errno : EFAULT;
    here += moved;
    address += static_cast<std::uint64_t>(moved);
    bytes -= static_cast<std::size_t>(moved);
  }
  return 0;
}

[[noreturn]] void throw_unreachable(const char* call, pid_t process, int error) {
  throw MemoryRefused(
      ErrorCode::internal,
      fmt::format("{} on process {} failed: {}; a buffer of that rank is not (or no longer) valid memory, or "
                  "the process has ended",
                  call, process, std::strerror(error)));
}

}  // namespace

void read_memory(pid_t process, std::uint64_t address, void* to, std::size_t bytes) {
  const int error = transfer_all(process_vm_readv, process, address, to, bytes);
  if (error != 0) throw_unreachable("process_vm_readv", process, error);
}

void write_memory(pid_t process, std::uint64_t address, const void* from, std::size_t bytes) {
  // The kernel only reads the local side.
  void* local = const_cast<void*>(from);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  const int error = transfer_all(process_vm_writev, process, address, local, bytes);
  if (error != 0) throw_unreachable("process_vm_writev", process, error);
}

bool try_read_memory(pid_t process, std::uint64_t address, void* to, std::size_t bytes) noexcept {
  return transfer_all(process_vm_readv, process, address, to, bytes) == 0;
}

bool try_write_memory(pid_t process, std::uint64_t address, const void* from, std::size_t bytes) noexcept {
  void* local = const_cast<void*>(from);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  return transfer_all(process_vm_writev, process, address, local, bytes) == 0;
}

bool is_missing(pid_t process, std::uint64_t address, std::size_t bytes) noexcept {
  std::byte found{};
  return transfer_all(process_vm_readv, process, address, &found, 1) == EFAULT ||
         transfer_all(process_vm_readv, process, address + bytes - 1, &found, 1) == EFAULT;
}

}  // namespace tutti::detail::shm
