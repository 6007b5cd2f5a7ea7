// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <tutti/buffer.hpp>
#include <utility>
#include <vector>

#include "collectives/services.hpp"
#include "held.hpp"
#include "types.hpp"

namespace tutti::preload {

/// MPI's functions take what they read and what they write by one address.
[[nodiscard]] inline std::byte* writable(const void* address) {
  return static_cast<std::byte*>(const_cast<void*>(address));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

/// Copies elements of a datatype to contiguous bytes and back.
void pack(const void* address, std::size_t count, MPI_Datatype type, std::byte* bytes, std::size_t size);
void unpack(const std::byte* bytes, std::size_t size, void* address, std::size_t count, MPI_Datatype type);

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
  void hold() { type_.hold(); }
  [[nodiscard]] Buffer buffer() const;
  [[nodiscard]] bool is_in_place() const { return is_in_place_; }

 private:
  std::byte* user_ = nullptr;
  std::size_t count_ = 0;
  std::size_t size_ = 0;
  HeldType type_{};
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
      : Blocks(ranks) {
    for (int r = 0; r < ranks; ++r)
      add(static_cast<std::size_t>(counts[r]), static_cast<std::ptrdiff_t>(displs[r]) * type.extent, type);
    finish(address, {&handle, 1});
  }
  /// Block r: counts[r] elements of types[r], displs[r] bytes behind the address.
  template <typename N, typename D>
  Blocks(const void* address, const N* counts, const D* displs, int ranks, const MPI_Datatype* handles)
      : Blocks(ranks) {
    std::vector<MPI_Datatype> present(static_cast<std::size_t>(ranks), MPI_DATATYPE_NULL);
    for (int r = 0; r < ranks; ++r) {
      add(static_cast<std::size_t>(counts[r]), static_cast<std::ptrdiff_t>(displs[r]),
          *type_beside(handles[r], counts[r]));
      if (counts[r] > 0) present[static_cast<std::size_t>(r)] = handles[r];
    }
    finish(address, present);
  }

  void read();
  void write();
  void hold();
  [[nodiscard]] Buffer buffer() const;
  [[nodiscard]] bool is_in_place() const { return is_in_place_; }
  [[nodiscard]] std::span<const std::size_t> counts() const { return std::span(numbers_).first(given_.size()); }
  [[nodiscard]] std::span<const std::size_t> displs() const { return std::span(numbers_).last(given_.size()); }

 private:
  /// The program's count and place, the latter in bytes.
  struct Given {
    std::size_t count;
    std::ptrdiff_t displ;
  };

  explicit Blocks(int ranks) {
    given_.reserve(static_cast<std::size_t>(ranks));
    numbers_.resize(2 * static_cast<std::size_t>(ranks));
  }
  void add(std::size_t count, std::ptrdiff_t displ, const Type& type);
  void finish(const void* address, std::span<const MPI_Datatype> handles);
  [[nodiscard]] std::size_t& size_of(std::size_t r) { return numbers_[r]; }
  [[nodiscard]] std::size_t& place_of(std::size_t r) { return numbers_[given_.size() + r]; }
  [[nodiscard]] MPI_Datatype type_of_block(std::size_t r) const { return types_[types_.size() == 1 ? 0 : r].get(); }

  std::byte* base_ = nullptr;
  std::size_t span_ = 0;  ///< bytes from the base to the end of the last block
  std::vector<Given> given_{};
  std::vector<std::size_t> numbers_{};  ///< sizes, then places behind what buffer() gives, in bytes
  std::vector<HeldType> types_{};
  bool is_dense_ = true;
  bool is_in_place_ = false;
  PackedMemory copy_{};
};

/// A communicator of this rank alone, for messages to itself: copies of data have tag 0, completions of persistent
/// tokens the tags from 1 on. Made at the first call; any thread may call it.
[[nodiscard]] MPI_Comm private_self();

}  // namespace tutti::preload
