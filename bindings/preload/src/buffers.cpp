// SPDX-License-Identifier: BSD-3-Clause
#include "buffers.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "kernels/copy.hpp"
#include "kernels/pack.hpp"

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

/// Calls copy(layout, unit, address of the first unit) if the elements are a grid. Those in device memory are left to
/// an MPI that reads it.
template <typename Copy>
bool by_grid(const Elements& elements, const Copy& copy) {
  const auto& grid = elements.facts->grid;
  if (!grid) return false;
  std::byte* const first = elements.address + grid->offset;
  if (memory_kind(first) == MemoryKind::device) return false;
  const auto layout = grid->layout.repeated(elements.count);
  copy(layout.get(), grid->unit, first);
  return true;
}

std::byte* element_at(const Elements& elements, std::size_t i) {
  return elements.address + static_cast<std::ptrdiff_t>(i) * elements.facts->extent;
}

void pack_by_mpi(const Elements& all, std::byte* bytes, std::size_t size) {
  in_pieces(all.count, size, [&](std::size_t first, int now, std::size_t place, std::size_t piece) {
    const std::byte* from = element_at(all, first);
    if (needs_message(from, piece))
      return copy_by_message(from, now, all.type, bytes + place, 1, PackedBytes(piece).get());
    int position = 0;
    PMPI_Pack(from, now, all.type, bytes + place, static_cast<int>(piece), &position, MPI_COMM_SELF);
  });
}

void unpack_by_mpi(const std::byte* bytes, std::size_t size, const Elements& all) {
  in_pieces(all.count, size, [&](std::size_t first, int now, std::size_t place, std::size_t piece) {
    std::byte* to = element_at(all, first);
    if (needs_message(to, piece)) return copy_by_message(bytes + place, 1, PackedBytes(piece).get(), to, now, all.type);
    int position = 0;
    PMPI_Unpack(bytes + place, static_cast<int>(piece), &position, to, now, all.type, MPI_COMM_SELF);
  });
}

}  // namespace

void pack(const Elements& from, std::byte* bytes, std::size_t size) {
  if (size == 0) return;
  const bool is_done = by_grid(from, [&](const tutti::detail::Grid* grid, std::size_t unit, const std::byte* first) {
    if (grid != nullptr) return kernels::pack(*grid, unit, first, bytes);
    kernels::copy(bytes, first, size);
  });
  if (!is_done) pack_by_mpi(from, bytes, size);
}

void unpack(const std::byte* bytes, std::size_t size, const Elements& to) {
  if (size == 0) return;
  const bool is_done = by_grid(to, [&](const tutti::detail::Grid* grid, std::size_t unit, std::byte* first) {
    if (grid != nullptr) return kernels::unpack(*grid, unit, bytes, grid->elements, first);
    kernels::copy(first, bytes, size);
  });
  if (!is_done) unpack_by_mpi(bytes, size, to);
}

tutti::detail::ScratchPool& PackedMemory::pool() {
  static auto* const kept = new tutti::detail::ScratchPool;
  return *kept;
}

Bytes::Bytes(const void* address, std::size_t count, MPI_Datatype handle, const Type& type)
    : user_{writable(address), count, &type, handle}, size_(count * type.size), is_dense_(type.is_dense || size_ == 0) {
  if (is_dense_) return;
  held_ = HeldType(handle);
  copy_ = PackedMemory(size_);
}

Bytes Bytes::in_place() {
  Bytes bytes;
  bytes.is_in_place_ = true;
  return bytes;
}

void Bytes::read() {
  if (!is_dense_) pack(user_, copy_.data(), size_);
}
void Bytes::write() const {
  if (!is_dense_) unpack(copy_.data(), size_, user_);
}

Buffer Bytes::buffer() const {
  if (is_in_place_) return tutti::in_place;
  return {is_dense_ ? user_.address : copy_.data(), size_, byte};
}

Blocks Blocks::in_place() {
  Blocks blocks;
  blocks.is_in_place_ = true;
  return blocks;
}

void Blocks::finish() {
  if (is_dense_)
    place_in_buffer();
  else
    place_in_copy();
}

void Blocks::place_in_copy() {
  for (std::size_t r = 0; r < given_.size(); span_ += sizes_[r++]) places_[r] = span_;
  copy_ = PackedMemory(span_);
}

// Displacements may be negative, or addresses; those of the library are neither.
void Blocks::place_in_buffer() {
  std::optional<std::ptrdiff_t> first;
  for (std::size_t r = 0; r < given_.size(); ++r)
    if (sizes_[r] != 0) first = std::min(first.value_or(given_[r].displ), given_[r].displ);
  const std::ptrdiff_t least = first.value_or(0);
  base_ += least;
  for (std::size_t r = 0; r < given_.size(); ++r) {
    if (sizes_[r] == 0) continue;
    places_[r] = static_cast<std::size_t>(given_[r].displ - least);
    span_ = std::max(span_, places_[r] + sizes_[r]);
  }
}

Elements Blocks::elements(std::size_t r) const {
  const Given& given = given_[r];
  return {base_ + given.displ, given.count, given.facts, given.type};
}

void Blocks::read() {
  if (is_dense_) return;
  for (std::size_t r = 0; r < given_.size(); ++r) pack(elements(r), copy_.data() + places_[r], sizes_[r]);
}
void Blocks::write() {
  if (is_dense_) return;
  for (std::size_t r = 0; r < given_.size(); ++r) unpack(copy_.data() + places_[r], sizes_[r], elements(r));
}

// The datatypes of a dense buffer are looked at no more.
void Blocks::hold() {
  if (is_dense_) return;
  held_.reserve(given_.size());
  for (const Given& given : given_)
    if (given.count > 0 && (held_.empty() || held_.back().get() != given.type)) held_.emplace_back(given.type).hold();
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
