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

/// Owns this rank's part of the memory that allocate() returned. Move-only. The destructor frees the part; no call that
/// uses the memory may be outstanding then. Freeing is local and needs neither the communicator nor MPI, so both may
/// end first. Ranks may free at different times, because a part stays mapped until every rank of the node has freed its
/// own: calls on the remaining parts stay correct, but a rank that has freed its part accesses the others' parts as
/// slowly as ordinary memory. Counterpart: the memory of MPI_Win_allocate_shared.
class TUTTI_EXPORT Allocation {
 public:
  /// Owns nothing: data() is null, size() is 0.
  Allocation() noexcept;
  ~Allocation();
  Allocation(Allocation&&) noexcept;
  Allocation& operator=(Allocation&&) noexcept;
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;

  /// Address of the part, aligned to at least 4096 bytes, or 256 bytes for memory from CUDA. Never null after
  /// allocate(), not even for 0 bytes, when it must not be accessed.
  [[nodiscard]] void* data() const noexcept;
  /// Size as requested, in bytes.
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] MemoryKind kind() const noexcept;
  /// Returns true if the other ranks of the node load and store this memory directly; false for ordinary memory and for
  /// memory from CUDA.
  [[nodiscard]] bool is_shared() const noexcept;

  /// Views the memory as the whole elements that fit. The view is valid while this object, or the one it is moved to,
  /// owns the memory.
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] std::span<T> as() const noexcept { return {static_cast<T*>(data()), size() / sizeof(T)}; }

  explicit Allocation(std::unique_ptr<detail::Memory> memory) noexcept;

 private:
  std::unique_ptr<detail::Memory> memory_;
};

/// Allocates `bytes` zeroed bytes for this rank. 0 is allowed, and ranks may ask for different sizes. Every call
/// accepts the memory like any other memory, and pointers into the middle serve as well as the start.
///
/// MemoryKind::host: all ranks of a node map the parts of all of them, and the pages are reserved at once. Large
/// collectives among these ranks, on any communicator, then read and write each other's buffers directly. Ranks get
/// ordinary memory, which works but is no faster, if their node has one rank, if TUTTI_SHM=0 is set, or if /dev/shm is
/// absent or full.
///
/// MemoryKind::device: the memory is on the communicator's device (Communicator::prepare_device), or on the current
/// device if the communicator is not prepared. If a prepared communicator uses NCCL 2.19 or newer, NCCL allocates the
/// memory. With TUTTI_NCCL_REGISTER=1 on all ranks NCCL calls use it without extra copies; from NCCL 2.27 on, if all
/// ranks ask for the same size, as symmetric memory. NCCL's rule then holds: if one rank passes such memory to a call,
/// all ranks do, at equal offsets. MemoryKind::managed: on that device too. MemoryKind::pinned: host memory of this
/// process that devices can access.
/// For these kinds the call waits until the memory is zeroed and all NCCL work of this process on the device has
/// finished. The destructor never waits: while such work is unfinished, or a stream waits for the library's progress
/// thread, it defers the return to CUDA until a later allocation of one of these kinds is made or freed.
///
/// Collective over `comm`. Blocking. Equal on all ranks: `kind`.
/// Errors, the same on all ranks: mismatch (kinds differ), not_built (a kind of CUDA in a library without CUDA), cuda
/// (a rank has no device, or its device reports an error), invalid_argument (kind detect; more bytes than a process can
/// address), out_of_memory. Each names the rank.
/// Counterparts: MPI_Win_allocate_shared, MPI_Alloc_mem, ncclMemAlloc, cudaMalloc, cudaHostAlloc, cudaMallocManaged.
[[nodiscard]] TUTTI_EXPORT Allocation allocate(const Communicator& comm, std::size_t bytes,
                                               MemoryKind kind = MemoryKind::host);

}  // namespace tutti
