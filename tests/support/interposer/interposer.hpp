// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>

#include <cstdint>

/// libtutti_interposer.so makes this machine look like another one to a program that preloads it (LD_PRELOAD): calls
/// wait, busily, before the real function runs. A variable that is not set changes nothing:
///
///   TUTTI_TEST_KERNEL_COPY_NS          each process_vm_readv and process_vm_writev takes so much longer, in ns
///   TUTTI_TEST_KERNEL_COPY_NS_PER_KIB  and each KiB that they copy
///   TUTTI_TEST_KERNEL_COPY_REFUSED=1   both fail with EPERM
///   TUTTI_TEST_MEMORY_COPY_NS_PER_KIB  each KiB that memcpy and memmove copy takes so much longer, in ns
///   TUTTI_TEST_MEMORY_COPY_FROM        shortest copy that this holds for, in bytes (default 4096)
///   TUTTI_TEST_MESSAGE_NS              each message takes so much longer to send by MPI, in ns
///   TUTTI_TEST_INTERPOSER_REPORT=1     says at the end of each process, on stderr, how many calls came through here
///
/// The library sees the calls between shared objects. Copies that a compiler writes out, the collectives inside the
/// host MPI and messages of other functions than MPI_Send, MPI_Isend, their variants and MPI_Start are as fast as ever.
/// A host MPI that copies by process_vm_readv itself gets slower too, as it would on such a machine.
namespace tutti::test::interposer {

enum class Call : int { kernel_copy, memory_copy, message };

/// Exported by the library: how often this process made a call that can be slowed. Of copies in memory only those count
/// that are slowed.
inline constexpr const char* count_symbol = "tutti_test_interposer_count";

/// Returns true if this process has preloaded the library.
[[nodiscard]] inline bool is_loaded() { return dlsym(RTLD_DEFAULT, count_symbol) != nullptr; }

/// How often this process made a call; 0 without the library.
[[nodiscard]] inline std::uint64_t count_of(Call call) {
  using Count = std::uint64_t (*)(int);
  const auto count = reinterpret_cast<Count>(dlsym(RTLD_DEFAULT, count_symbol));  // NOLINT: as dlsym returns it
  return count == nullptr ? 0 : count(static_cast<int>(call));
}

}  // namespace tutti::test::interposer
