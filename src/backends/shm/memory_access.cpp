// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/peer_memory.hpp"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <tutti/error.hpp>

#include "call/execution.hpp"
#include "kernels/copy.hpp"

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

/// Returns true if this process may use its own memory from `begin` on, by its first byte and its last one: a caller's
/// wrong address is an error here, as it is where the kernel copies.
bool is_own(std::byte* begin, std::size_t bytes, bool writes) noexcept {
  std::array<std::byte, 2> ends{};
  const iovec copies{ends.data(), ends.size()};
  const std::array<iovec, 2> places = {{{begin, 1}, {begin + bytes - 1, 1}}};
  const auto moves_both = [&](Transfer transfer) {
    ssize_t moved = 0;
    do moved = transfer(getpid(), &copies, 1, places.data(), places.size(), 0);
    while (moved < 0 && errno == EINTR);
    return moved == static_cast<ssize_t>(ends.size());
  };
  return moves_both(process_vm_readv) && (!writes || moves_both(process_vm_writev));
}

/// Makes a transfer that the kernel would make by slow moves: in pieces, through memory of this side that begins at the
/// same place of a page as the other process's.
template <typename Move>
int make_detour(std::uint64_t address, std::size_t bytes, const Move& move) noexcept {
  constexpr std::size_t page = 4096;
  constexpr std::size_t piece = 8 * page;
  alignas(page) std::array<std::byte, piece + page> room;
  std::byte* way = room.data() + address % page;
  int error = 0;
  for (std::size_t at = 0; at < bytes && error == 0; at += piece) error = move(at, way, std::min(piece, bytes - at));
  return error;
}

int read_all(pid_t process, std::uint64_t address, void* to, std::size_t bytes) noexcept {
  if (kernels::is_slow_move(reinterpret_cast<std::uintptr_t>(to), address, bytes))
    return read_by_detour(process, address, to, bytes);
  return transfer_all(process_vm_readv, process, address, to, bytes);
}

int write_all(pid_t process, std::uint64_t address, const void* from, std::size_t bytes) noexcept {
  if (kernels::is_slow_move(address, reinterpret_cast<std::uintptr_t>(from), bytes))
    return write_by_detour(process, address, from, bytes);
  // The kernel only reads the local side.
  void* local = const_cast<void*>(from);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  return transfer_all(process_vm_writev, process, address, local, bytes);
}

[[noreturn]] void throw_unreachable(const char* call, pid_t process, int error) {
  throw MemoryRefused(
      ErrorCode::internal,
      fmt::format("{} on process {} failed: {}; a buffer of that rank is not (or no longer) valid memory, or "
                  "the process has ended",
                  call, process, std::strerror(error)));
}

}  // namespace

int read_by_detour(pid_t process, std::uint64_t address, void* to, std::size_t bytes) noexcept {
  auto* here = static_cast<std::byte*>(to);
  return make_detour(address, bytes, [&](std::size_t at, std::byte* way, std::size_t length) {
    if (!is_own(here + at, length, true)) return EFAULT;
    const int error = transfer_all(process_vm_readv, process, address + at, way, length);
    if (error == 0) kernels::copy(here + at, way, length);
    return error;
  });
}

int write_by_detour(pid_t process, std::uint64_t address, const void* from, std::size_t bytes) noexcept {
  auto* here = static_cast<std::byte*>(const_cast<void*>(from));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  return make_detour(address, bytes, [&](std::size_t at, std::byte* way, std::size_t length) {
    if (!is_own(here + at, length, false)) return EFAULT;
    kernels::copy(way, here + at, length);
    return transfer_all(process_vm_writev, process, address + at, way, length);
  });
}

void read_memory(pid_t process, std::uint64_t address, void* to, std::size_t bytes) {
  const int error = read_all(process, address, to, bytes);
  if (error != 0) throw_unreachable("process_vm_readv", process, error);
}

void write_memory(pid_t process, std::uint64_t address, const void* from, std::size_t bytes) {
  const int error = write_all(process, address, from, bytes);
  if (error != 0) throw_unreachable("process_vm_writev", process, error);
}

bool try_read_memory(pid_t process, std::uint64_t address, void* to, std::size_t bytes) noexcept {
  return read_all(process, address, to, bytes) == 0;
}

bool try_write_memory(pid_t process, std::uint64_t address, const void* from, std::size_t bytes) noexcept {
  return write_all(process, address, from, bytes) == 0;
}

bool is_missing(pid_t process, std::uint64_t address, std::size_t bytes) noexcept {
  std::byte found{};
  return transfer_all(process_vm_readv, process, address, &found, 1) == EFAULT ||
         transfer_all(process_vm_readv, process, address + bytes - 1, &found, 1) == EFAULT;
}

}  // namespace tutti::detail::shm
