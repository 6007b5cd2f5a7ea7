// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <type_traits>

namespace tutti {

namespace detail {
struct Memory;
}

/// This rank's part of memory made by allocate(). Move-only; the destructor returns it. That is local and needs neither
/// the communicator nor MPI, so both may end before. No call that uses the memory may be outstanding then. A part lies
/// in memory as long as any rank of the node has it, so ranks may free at different times: calls on parts that are left
/// stay right, but a rank that has freed its own part reaches the others' as slowly as any memory. Counterpart: what
/// MPI_Win_allocate_shared gives.
class TUTTI_EXPORT Allocation {
 public:
  /// Empty: data() is null, size() is 0.
  Allocation() noexcept;
  ~Allocation();
  Allocation(Allocation&&) noexcept;
  Allocation& operator=(Allocation&&) noexcept;
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;

  /// Aligned to 4096 bytes at least, memory of CUDA to 256. Never null after allocate(), also for 0 bytes; those must
  /// not be accessed.
  [[nodiscard]] void* data() const noexcept;
  /// Bytes, as asked for.
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] MemoryKind kind() const noexcept;
  /// Whether the other ranks of the node load and store it directly; false where it is ordinary memory or CUDA's.
  [[nodiscard]] bool is_shared() const noexcept;

  /// The whole elements that fit. The view is valid as long as this object, or the one it is moved to, owns the memory.
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] std::span<T> as() const noexcept { return {static_cast<T*>(data()), size() / sizeof(T)}; }

  explicit Allocation(std::unique_ptr<detail::Memory> memory) noexcept;

 private:
  std::unique_ptr<detail::Memory> memory_;
};

/// `bytes` zeroed bytes for this rank; 0 is allowed, and ranks may ask for different numbers. Calls use the memory as
/// they use any; pointers into the middle are as good as to the begin.
///
/// MemoryKind::host: the parts of the ranks of one node lie in memory that all of them have mapped, and whose pages are
/// reserved at once: large collectives among them, on any communicator, then read and write each other's buffers
/// directly. Where a node has one rank, TUTTI_SHM=0 is set, or /dev/shm is absent or has no room, the ranks of that
/// node get ordinary memory: everything works, no faster.
///
/// MemoryKind::device: on the device that the communicator is prepared for (Communicator::prepare_device), else on the
/// current one. Where a prepared communicator uses NCCL 2.19 or newer it is NCCL's memory; with TUTTI_NCCL_REGISTER=1
/// on all ranks NCCL calls use it without copies of their own, since NCCL 2.27 as symmetric memory where all ranks ask
/// for as many bytes. NCCL's rule holds then: where one rank passes such memory to a call all do, at equal offsets.
/// MemoryKind::managed is on that device too; MemoryKind::pinned is this process's host memory, which devices reach.
/// The call waits until the memory is zeroed, and until no NCCL work of this process is unfinished on the device. The
/// destructor never waits: where such work is unfinished, or a stream waits for the library's progress thread, the
/// memory returns to CUDA when a later allocation of any kind of CUDA's is made or ends.
///
/// Collective over `comm`; blocking. `kind` is equal on all ranks.
/// Errors, the same on all ranks: mismatch (kinds differ), not_built (kinds of CUDA in a library without it), cuda (a
/// rank without a device, or what its device reports), invalid_argument (kind detect; more bytes than a process can
/// address), out_of_memory; each names the rank.
/// Counterparts: MPI_Win_allocate_shared, MPI_Alloc_mem, ncclMemAlloc, cudaMalloc, cudaHostAlloc, cudaMallocManaged.
[[nodiscard]] TUTTI_EXPORT Allocation allocate(const Communicator& comm, std::size_t bytes,
                                               MemoryKind kind = MemoryKind::host);

}  // namespace tutti
