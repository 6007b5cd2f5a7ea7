// SPDX-License-Identifier: BSD-3-Clause
#include "buffers.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

namespace tutti::preload {
namespace {

const Datatype byte = Datatype::bytes(1);

constexpr auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());

/// Packed bytes as one element of a datatype, since they may be more than int counts.
class PackedBytes {
 public:
  explicit PackedBytes(std::size_t size) {
    constexpr std::size_t chunk = std::size_t{1} << 30U;
    MPI_Datatype chunks = MPI_DATATYPE_NULL;
    PMPI_Type_contiguous(chunk, MPI_PACKED, &chunks);
    const int lengths[] = {static_cast<int>(size / chunk), static_cast<int>(size % chunk)};
    const MPI_Aint places[] = {0, static_cast<MPI_Aint>(size / chunk * chunk)};
    const MPI_Datatype parts[] = {chunks, MPI_PACKED};
    PMPI_Type_create_struct(2, lengths, places, parts, &type_);
    PMPI_Type_commit(&type_);
    PMPI_Type_free(&chunks);
  }
  ~PackedBytes() { PMPI_Type_free(&type_); }
  PackedBytes(const PackedBytes&) = delete;
  PackedBytes& operator=(const PackedBytes&) = delete;
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// MPI_Pack refuses MPI_BOTTOM and counts bytes by int; a message to oneself does not.
bool needs_message(const void* address, std::size_t bytes) { return address == MPI_BOTTOM || bytes > most; }

void copy_by_message(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                     MPI_Datatype to_type) {
  static std::mutex mutex;  // one at a time, so that all may have one tag
  const std::lock_guard lock(mutex);
  PMPI_Sendrecv(from, from_count, from_type, 0, 0, to, to_count, to_type, 0, 0, private_self(), MPI_STATUS_IGNORE);
}

/// Calls work(first element, number of elements, first byte, number of bytes) for pieces of bytes that int counts, or
/// of one element.
template <typename Work>
void in_pieces(std::size_t count, std::size_t size, const Work& work) {
  const std::size_t each = count == 0 ? 1 : std::max<std::size_t>(size / count, 1);
  const std::size_t piece = std::max<std::size_t>(most / each, 1);
  for (std::size_t first = 0; first < count; first += piece) {
    const std::size_t now = std::min(piece, count - first);
    work(first, static_cast<int>(now), first * each, now * each);
  }
}

std::byte* element_at(const void* address, std::size_t i, MPI_Datatype type) {
  return writable(address) + static_cast<std::ptrdiff_t>(i) * type_of(type)->extent;
}

}  // namespace

void pack(const void* address, std::size_t count, MPI_Datatype type, std::byte* bytes, std::size_t size) {
  in_pieces(count, size, [&](std::size_t first, int now, std::size_t place, std::size_t piece) {
    const std::byte* from = element_at(address, first, type);
    if (needs_message(from, piece)) return copy_by_message(from, now, type, bytes + place, 1, PackedBytes(piece).get());
    int position = 0;
    PMPI_Pack(from, now, type, bytes + place, static_cast<int>(piece), &position, MPI_COMM_SELF);
  });
}

void unpack(const std::byte* bytes, std::size_t size, void* address, std::size_t count, MPI_Datatype type) {
  in_pieces(count, size, [&](std::size_t first, int now, std::size_t place, std::size_t piece) {
    std::byte* to = element_at(address, first, type);
    if (needs_message(to, piece)) return copy_by_message(bytes + place, 1, PackedBytes(piece).get(), to, now, type);
    int position = 0;
    PMPI_Unpack(bytes + place, static_cast<int>(piece), &position, to, now, type, MPI_COMM_SELF);
  });
}

tutti::detail::ScratchPool& PackedMemory::pool() {
  static auto* const kept = new tutti::detail::ScratchPool;
  return *kept;
}

Bytes::Bytes(const void* address, std::size_t count, MPI_Datatype handle, const Type& type)
    : user_(writable(address)), count_(count), size_(count * type.size), is_dense_(type.is_dense || size_ == 0) {
  if (is_dense_) return;
  type_ = HeldType(handle);
  copy_ = PackedMemory(size_);
}

Bytes Bytes::in_place() {
  Bytes bytes;
  bytes.is_in_place_ = true;
  return bytes;
}

void Bytes::read() {
  if (!is_dense_) pack(user_, count_, type_.get(), copy_.data(), size_);
}
void Bytes::write() const {
  if (!is_dense_) unpack(copy_.data(), size_, user_, count_, type_.get());
}

Buffer Bytes::buffer() const {
  if (is_in_place_) return tutti::in_place;
  return {is_dense_ ? user_ : copy_.data(), size_, byte};
}

Blocks Blocks::in_place() {
  Blocks blocks;
  blocks.is_in_place_ = true;
  return blocks;
}

void Blocks::add(std::size_t count, std::ptrdiff_t displ, const Type& type) {
  const std::size_t size = count * type.size;
  size_of(given_.size()) = size;
  given_.push_back({count, displ});
  is_dense_ = is_dense_ && (type.is_dense || size == 0);
}

void Blocks::finish(const void* address, std::span<const MPI_Datatype> handles) {
  if (!is_dense_) {
    base_ = writable(address);
    for (const MPI_Datatype handle : handles) types_.emplace_back(handle);
    for (std::size_t r = 0; r < given_.size(); span_ += size_of(r++)) place_of(r) = span_;
    copy_ = PackedMemory(span_);
    return;
  }
  // Displacements may be negative, or addresses; those of the library are neither.
  std::optional<std::ptrdiff_t> first;
  for (std::size_t r = 0; r < given_.size(); ++r)
    if (size_of(r) != 0) first = std::min(first.value_or(given_[r].displ), given_[r].displ);
  const std::ptrdiff_t least = first.value_or(0);
  base_ = writable(address) + least;
  for (std::size_t r = 0; r < given_.size(); ++r) {
    if (size_of(r) == 0) continue;
    place_of(r) = static_cast<std::size_t>(given_[r].displ - least);
    span_ = std::max(span_, place_of(r) + size_of(r));
  }
}

void Blocks::read() {
  if (is_dense_) return;
  for (std::size_t r = 0; r < given_.size(); ++r)
    pack(base_ + given_[r].displ, given_[r].count, type_of_block(r), copy_.data() + place_of(r), size_of(r));
}
void Blocks::write() {
  if (is_dense_) return;
  for (std::size_t r = 0; r < given_.size(); ++r)
    unpack(copy_.data() + place_of(r), size_of(r), base_ + given_[r].displ, given_[r].count, type_of_block(r));
}
void Blocks::hold() {
  for (HeldType& type : types_) type.hold();
}

Buffer Blocks::buffer() const {
  if (is_in_place_) return tutti::in_place;
  return {is_dense_ ? base_ : copy_.data(), span_, byte};
}

MPI_Comm private_self() {
  static const MPI_Comm self = [] {
    MPI_Comm made = MPI_COMM_NULL;
    PMPI_Comm_dup(MPI_COMM_SELF, &made);
    return made;
  }();
  return self;
}

}  // namespace tutti::preload
