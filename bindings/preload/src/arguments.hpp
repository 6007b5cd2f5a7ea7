// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>

#include "buffers.hpp"
#include "member.hpp"
#include "reduction.hpp"
#include "report.hpp"

/// Arguments as the MPI checks them: what it would refuse is left to it.
namespace tutti::preload {

[[nodiscard]] inline bool is_root(const Member& member, int root) { return member.rank() == root; }
[[nodiscard]] inline bool has_root(const Member& member, int root) { return root >= 0 && root < member.size(); }

/// A null address is MPI_BOTTOM for a type that has addresses of its own.
template <typename N>
[[nodiscard]] bool is_refused(const void* address, N count, const Type* type) {
  if (type == nullptr || count < 0) return true;
  return count > 0 && (address == MPI_IN_PLACE || (address == nullptr && type->is_dense && type->size > 0));
}

/// A buffer of a call; false where MPI refuses it.
template <typename N>
[[nodiscard]] bool take_side(Bytes& bytes, const void* address, N count, MPI_Datatype handle, std::size_t blocks = 1) {
  const Type* type = type_beside(handle, count);
  if (is_refused(address, count, type)) return false;
  bytes = Bytes(address, static_cast<std::size_t>(count) * blocks, handle, *type);
  return true;
}

/// The same for a buffer of blocks.
template <typename N, typename D>
[[nodiscard]] bool take_side(Blocks& blocks, const void* address, const N* counts, const D* displs, int number,
                             MPI_Datatype handle) {
  if (counts == nullptr || displs == nullptr) return false;
  const bool is_empty = std::all_of(counts, counts + number, [](N count) { return count == 0; });
  const Type* type = type_beside(handle, is_empty ? 0 : 1);
  for (int r = 0; r < number; ++r)
    if (is_refused(address, counts[r], type)) return false;
  blocks = Blocks(address, counts, displs, number, handle, *type);
  return true;
}

template <typename N, typename D>
[[nodiscard]] bool take_side(Blocks& blocks, const void* address, const N* counts, const D* displs, int number,
                             const MPI_Datatype* handles) {
  if (counts == nullptr || displs == nullptr || handles == nullptr) return false;
  // Displacements in bytes may be addresses, behind MPI_BOTTOM. None stands for MPI_IN_PLACE, whatever its bits are.
  static constexpr char elsewhere = 0;
  for (int r = 0; r < number; ++r) {
    const void* place = address == MPI_BOTTOM && displs[r] != 0 ? &elsewhere : address;
    if (is_refused(place, counts[r], type_beside(handles[r], counts[r]))) return false;
  }
  blocks = Blocks(address, counts, displs, number, handles);
  return true;
}

/// Whether two buffers that MPI wants apart begin at one address.
template <typename N>
[[nodiscard]] bool is_alias(const void* send, const void* recv, N count) {
  return send == recv && count > 0 && send != nullptr;
}

/// The place that many elements of a type behind an address.
[[nodiscard]] inline const void* block_at(const void* address, MPI_Count units, MPI_Datatype handle) {
  const Type* type = type_of(handle);
  return type == nullptr ? address : static_cast<const std::byte*>(address) + units * type->extent;
}

/// A buffer for which MPI_IN_PLACE may stand, and which must not be the place where its data would be then.
template <typename N>
[[nodiscard]] bool take_or_in_place(Bytes& bytes, const void* address, N count, MPI_Datatype handle, const void* place,
                                    std::size_t blocks = 1) {
  if (address == MPI_IN_PLACE) {
    bytes = Bytes::in_place();
    return true;
  }
  return !is_alias(address, place, count) && take_side(bytes, address, count, handle, blocks);
}

/// What a call sends and receives. A side that this rank does not have is empty; in place, what is received is read
/// too.
template <typename Send, typename Recv>
struct Sides {
  Send send{};
  Recv recv{};

  void hold() {
    send.hold();
    recv.hold();
  }
  void read() {
    send.read();
    if (send.is_in_place()) recv.read();
  }
  void write() { recv.write(); }
};

[[nodiscard]] inline Reason reason_of(bool is_taken) { return is_taken ? Reason::none : Reason::arguments; }

/// The operands of a reduction.
class Operands {
 public:
  template <typename N>
  Reason take(const void* send, void* recv, N sent, N received, MPI_Datatype type, MPI_Op op) {
    const Type* facts = type_of(type);
    const bool is_in_place = send == MPI_IN_PLACE;
    if ((!is_in_place && is_refused(send, sent, facts)) || is_refused(recv, received, facts) ||
        is_alias(send, recv, std::min(sent, received)))
      return Reason::arguments;
    send_ = send;
    recv_ = recv;
    sent_ = static_cast<std::size_t>(sent);
    received_ = static_cast<std::size_t>(received);
    return reduction_.take(type, *facts, op);
  }
  /// The operands of a rank that gives and receives nothing: read in place, they stay as they are.
  template <typename N>
  Reason take_given(const void* send, N count, MPI_Datatype type, MPI_Op op) {
    is_read_only_ = true;
    return take(MPI_IN_PLACE, writable(send), count, count, type, op);
  }
  [[nodiscard]] ConstBuffer input() const { return reduction_.input(send_, sent_); }
  [[nodiscard]] Buffer output() const { return reduction_.output(recv_, received_); }
  [[nodiscard]] ReduceOp op() const { return reduction_.op(); }
  [[nodiscard]] bool is_in_place() const { return send_ == MPI_IN_PLACE && !is_read_only_; }

  void hold() { reduction_.hold(); }

 private:
  const void* send_ = nullptr;
  void* recv_ = nullptr;
  std::size_t sent_ = 0;
  std::size_t received_ = 0;
  bool is_read_only_ = false;
  Reduction reduction_{};
};

}  // namespace tutti::preload
