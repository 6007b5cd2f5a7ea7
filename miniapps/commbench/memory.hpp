// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tutti/device.hpp>
#include <tutti/memory.hpp>

namespace tutti::commbench {

/// Which memory the calls of a point work on.
enum class Reuse : std::uint8_t {
  reuse,  ///< the same buffers in every iteration
  cold,   ///< every iteration its own, after as much other memory was read as the caches hold
  fresh,  ///< as cold, in pages that were mapped for it: receive buffers have never been touched
};

/// Where the buffers of a point lie. All but memory of the host are from tutti::allocate: shared in a node, or of a
/// kind of CUDA, which NCCL uses as registered memory where TUTTI_NCCL_REGISTER=1 is set.
enum class MemorySpace : std::uint8_t { host, shared, pinned, device, managed };

[[nodiscard]] const char* space_name(MemorySpace space);
[[nodiscard]] MemoryKind kind_of(MemorySpace space);
/// Whether calls on it are device calls, ordered on a stream.
[[nodiscard]] constexpr bool is_on_device(MemorySpace space) {
  return space == MemorySpace::device || space == MemorySpace::managed;
}

/// Why there is no memory of a kind in this build and on this machine; empty where there is. Local.
[[nodiscard]] std::string why_no_memory(MemorySpace space);

/// Owns bytes of one kind of memory; that of the host is zeroed, and mapped page by page as it is touched. Throws
/// tutti::Error (out_of_memory) with the number of bytes.
class Memory {
 public:
  Memory() = default;
  /// Collective over `comm`. Without one, local: memory of the host needs none, and memory of CUDA is then never
  /// registered with NCCL.
  Memory(const Communicator* comm, MemorySpace space, std::size_t bytes);
  ~Memory();
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  /// Whether the host may read and write it directly.
  [[nodiscard]] bool is_visible() const { return space_ != MemorySpace::device; }

 private:
  MemorySpace space_ = MemorySpace::host;
  std::size_t bytes_ = 0;
  std::byte* data_ = nullptr;
  Allocation allocation_{};
  DeviceMemory device_{};  ///< where there is no communicator
};

/// From and to memory of any kind; blocking.
void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes);

/// Bytes of the largest cache of this machine; 64 MiB where the system does not say.
[[nodiscard]] std::size_t largest_cache();

}  // namespace tutti::commbench
