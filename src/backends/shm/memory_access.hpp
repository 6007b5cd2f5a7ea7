// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace tutti::detail::shm {

/// Copies between this process's memory and another's in one step of the kernel (process_vm_readv, process_vm_writev).
/// Throws ErrorCode::internal, with the kernel's reason, if the other memory cannot be accessed.
void read_memory(pid_t process, std::uint64_t address, void* to, std::size_t bytes);
void write_memory(pid_t process, std::uint64_t address, const void* from, std::size_t bytes);

/// The same, but returns success or failure instead of throwing.
[[nodiscard]] bool try_read_memory(pid_t process, std::uint64_t address, void* to, std::size_t bytes) noexcept;
[[nodiscard]] bool try_write_memory(pid_t process, std::uint64_t address, const void* from, std::size_t bytes) noexcept;

/// Returns true if the kernel says that the process has no memory at one end of the range, false also if it says
/// nothing.
[[nodiscard]] bool is_missing(pid_t process, std::uint64_t address, std::size_t bytes) noexcept;

}  // namespace tutti::detail::shm
