// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <tutti/buffer.hpp>
#include <utility>
#include <vector>

#include "call/few.hpp"
#include "collectives/services.hpp"
#include "held.hpp"
#include "types.hpp"

namespace tutti::preload {

/// MPI's functions take what they read and what they write by one address.
[[nodiscard]] inline std::byte* writable(const void* address) {
  return static_cast<std::byte*>(const_cast<void*>(address));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

/// Memory for the contiguous bytes of a buffer, kept from call to call: fresh pages cost several times a copy.
class PackedMemory {
 public:
  PackedMemory() = default;
  explicit PackedMemory(std::size_t bytes)
      : block_(pool().acquire(bytes)) {}  // NOLINT(*-cplusplus.NewDeleteLeaks): release() keeps or frees it
  ~PackedMemory() {
    if (block_.bytes != 0) pool().release(std::move(block_));
  }
  PackedMemory(PackedMemory&& other) noexcept : block_(std::exchange(other.block_, {})) {}
  PackedMemory& operator=(PackedMemory&& other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  PackedMemory(const PackedMemory&) = delete;
  PackedMemory& operator=(const PackedMemory&) = delete;
  [[nodiscard]] std::byte* data() const { return block_.data(); }

 private:
  /// Never destroyed, because calls may end after the statics.
  [[nodiscard]] static tutti::detail::ScratchPool& pool();
  tutti::detail::ScratchPool::Block block_{};
};

/// Elements of a datatype in the program's memory.
struct Elements {
  std::byte* address = nullptr;
  std::size_t count = 0;
  const Type* facts = nullptr;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

/// Copies elements to contiguous bytes of `size` bytes in all, and back.
void pack(const Elements& from, std::byte* bytes, std::size_t size);
void unpack(const std::byte* bytes, std::size_t size, const Elements& to);

/// A buffer of the program as bytes: its own, or a copy where its data do not follow one another. Ranks may describe
/// the same data by different datatypes, so that bytes are all that they have in common.
class Bytes {
 public:
  Bytes() = default;
  Bytes(const void* address, std::size_t count, MPI_Datatype handle, const Type& type);
  [[nodiscard]] static Bytes in_place();

  /// Copies the program's data, where there is a copy.
  void read();
  void write() const;
  /// For calls that outlive this one.
  void hold() { held_.hold(); }
  [[nodiscard]] Buffer buffer() const;
  [[nodiscard]] bool is_in_place() const { return is_in_place_; }

 private:
  Elements user_{};
  std::size_t size_ = 0;
  HeldType held_{};
  bool is_dense_ = true;
  bool is_in_place_ = false;
  PackedMemory copy_{};
};

/// A buffer of blocks, one a rank, each with its count, place and datatype.
class Blocks {
 public:
  Blocks() = default;
  [[nodiscard]] static Blocks in_place();
  /// Block r: counts[r] elements of `type`, displs[r] extents behind the address.
  template <typename N, typename D>
  Blocks(const void* address, const N* counts, const D* displs, int ranks, MPI_Datatype handle, const Type& type)
      : Blocks(address, ranks) {
    for (int r = 0; r < ranks; ++r)
      add(r, static_cast<std::size_t>(counts[r]), static_cast<std::ptrdiff_t>(displs[r]) * type.extent, type, handle);
    finish();
  }
  /// Block r: counts[r] elements of types[r], displs[r] bytes behind the address.
  template <typename N, typename D>
  Blocks(const void* address, const N* counts, const D* displs, int ranks, const MPI_Datatype* handles)
      : Blocks(address, ranks) {
    for (int r = 0; r < ranks; ++r)
      add(r, static_cast<std::size_t>(counts[r]), static_cast<std::ptrdiff_t>(displs[r]),
          *type_beside(handles[r], counts[r]), handles[r]);
    finish();
  }

  void read();
  void write();
  void hold();
  [[nodiscard]] Buffer buffer() const;
  [[nodiscard]] bool is_in_place() const { return is_in_place_; }
  [[nodiscard]] std::span<const std::size_t> counts() const { return {sizes_.begin(), sizes_.size()}; }
  [[nodiscard]] std::span<const std::size_t> displs() const { return {places_.begin(), places_.size()}; }

 private:
  /// Few ranks need no memory of their own for their blocks.
  static constexpr std::size_t few = 8;

  Blocks(const void* address, int ranks)
      : base_(writable(address)),
        given_(static_cast<std::size_t>(ranks)),
        sizes_(static_cast<std::size_t>(ranks)),
        places_(static_cast<std::size_t>(ranks)) {}
  /// displ: in bytes.
  void add(int rank, std::size_t count, std::ptrdiff_t displ, const Type& type, MPI_Datatype handle) {
    const auto r = static_cast<std::size_t>(rank);
    sizes_[r] = count * type.size;
    given_[r] = {displ, count, &type, handle};
    is_dense_ = is_dense_ && (type.is_dense || sizes_[r] == 0);
  }
  void finish();
  void place_in_copy();
  void place_in_buffer();
  [[nodiscard]] Elements elements(std::size_t r) const;

  /// A block as the program gives it.
  struct Given {
    std::ptrdiff_t displ = 0;  ///< in bytes
    std::size_t count = 0;
    const Type* facts = nullptr;
    MPI_Datatype type = MPI_DATATYPE_NULL;
  };
  template <typename T>
  using Few = tutti::detail::Few<T, few>;

  std::byte* base_ = nullptr;
  std::size_t span_ = 0;  ///< bytes from the base to the end of the last block
  Few<Given> given_{0};
  Few<std::size_t> sizes_{0};   ///< in bytes
  Few<std::size_t> places_{0};  ///< behind what buffer() gives, in bytes
  std::vector<HeldType> held_{};
  bool is_dense_ = true;
  bool is_in_place_ = false;
  PackedMemory copy_{};
};

/// A communicator of this rank alone, for messages to itself: copies of data have tag 0, completions of persistent
/// tokens the tags from 1 on. Made at the first call; any thread may call it.
[[nodiscard]] MPI_Comm private_self();

}  // namespace tutti::preload
