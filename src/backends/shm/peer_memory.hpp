// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/shm/range_cache.hpp"
#include "backends/shm/xpmem.hpp"

namespace tutti::detail::shm {

/// The memory of another process, through XPMEM: its access permit and the ranges that are attached. All communicators
/// of this process share it; the permit is released with the last of them.
///
/// **Why ranges may stay attached when their owner frees them.** An attachment is a window onto addresses of the owner,
/// not onto pages. The driver fills in a page at the first touch, by looking up the owner's address at that time
/// (xpmem_fault_handler and xpmem_ensure_valid_PFN in kernel/xpmem_attach.c and kernel/xpmem_pfn.c of
/// github.com/hpc/xpmem, September 2024). When the owner unmaps or replaces pages, the driver's MMU notifier gives the
/// pages back and clears them from all attachments (xpmem_invalidate_range in kernel/xpmem_mmu_notifier.c,
/// xpmem_clear_PTEs_range), so that the next touch finds the owner's new pages at the same address. A range of which
/// the owner has freed one buffer and obtained another at the same address therefore stays right, and no word from the
/// owner is needed. Freed memory is given back in spite of the attachment.
///
/// **What remains to be avoided** is a touch of addresses that the owner has not mapped, which ends this process by
/// SIGBUS. Only the bytes of buffers that an operation in progress names are touched; their owner must keep them until
/// its call is complete. Neither attaching a union of ranges, which may cover freed pages between two buffers, nor
/// keeping it touches a page. Before a range is attached for the first time, the kernel is asked for its ends, so that
/// most calls with a wrong address, or with memory that no other process can reach, end with an error as they do by
/// process_vm_readv.
class PeerMemory {
 public:
  /// The memory of a process, which has made the segment, or null if the driver refuses.
  [[nodiscard]] static std::shared_ptr<PeerMemory> of(pid_t process, std::int64_t segment);

  /// Attaches the pages that hold these addresses of the process; returns null if that is refused.
  [[nodiscard]] AttachmentPtr attach(std::uint64_t address, std::size_t bytes) { return ranges_.find(address, bytes); }

 private:
  class Permit;
  PeerMemory(pid_t process, const std::shared_ptr<const Permit>& permit);
  RangeCache ranges_;
};

/// Copies between this process's memory and another's in one step of the kernel (process_vm_readv, process_vm_writev).
/// Throws ErrorCode::internal, with the kernel's reason, if the other memory cannot be accessed.
void read_memory(pid_t process, std::uint64_t address, void* to, std::size_t bytes);
void write_memory(pid_t process, std::uint64_t address, const void* from, std::size_t bytes);

/// The same, but returns success or failure instead of throwing.
[[nodiscard]] bool try_read_memory(pid_t process, std::uint64_t address, void* to, std::size_t bytes) noexcept;
[[nodiscard]] bool try_write_memory(pid_t process, std::uint64_t address, const void* from, std::size_t bytes) noexcept;

/// The same in pieces through memory of this side that begins at the same place of a page as the other process's, for
/// ranges between which the kernel's moves are slow (kernels::is_slow_move). Returns 0, or the system's error.
[[nodiscard]] int read_by_detour(pid_t process, std::uint64_t address, void* to, std::size_t bytes) noexcept;
[[nodiscard]] int write_by_detour(pid_t process, std::uint64_t address, const void* from, std::size_t bytes) noexcept;

/// Returns true if the kernel says that the process has no memory at one end of the range, false also if it says
/// nothing.
[[nodiscard]] bool is_missing(pid_t process, std::uint64_t address, std::size_t bytes) noexcept;

}  // namespace tutti::detail::shm
