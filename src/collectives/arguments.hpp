// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/error.hpp>
#include <tutti/options.hpp>
#include <tutti/reduce_op.hpp>

#include "call/at_turn.hpp"
#include "collectives/call.hpp"
#include "collectives/overlap.hpp"

namespace tutti::detail {

struct BadArgument {
  std::string argument;
  std::string problem;
};

/// The first block whose count or displacement is negative, or that does not lie inside a buffer of `available`
/// elements. Each block is one of a `holder`, "rank" or "neighbour", which the problem names.
std::optional<BadArgument> find_bad_block(Counts counts, Counts displs, std::size_t available, std::string_view buffer,
                                          std::string_view holder);

/// Checks the arguments of one call and writes them into it. Each check throws an Error that names the argument, the
/// rank and the remedy, before anything is sent.
class Arguments {
 public:
  /// call: a fresh one, kept by the caller.
  Arguments(CheckedCall& call, const Communicator& comm, Operation operation, const Options& options)
      : comm_(comm.state().get()), state_(comm.state()), declared_(options.memory), call_(call) {
    call_.signature.operation = operation;
    require(options.timeout.count() >= 0, "options.timeout", "is negative; pass 0 for no timeout");
  }

  [[nodiscard]] int rank() const { return comm_->rank; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(comm_->size); }
  [[nodiscard]] bool is_root() const { return comm_->rank == call_.signature.root; }

  void set_type(Datatype type) {
    if (!is_datatype(type)) [[unlikely]]
      refuse_datatype();
    call_.signature.type = type;
  }
  void set_root(int root) {
    if (root < 0 || root >= comm_->size) [[unlikely]]
      refuse_root(root);
    call_.signature.root = root;
  }
  void set_op(const ReduceOp& op, bool allows_avg = true) {
    if (!is_defined(op.kind(), call_.signature.type.kind()) || (op.kind() == ReduceKind::avg && !allows_avg))
        [[unlikely]]
      refuse_op(op.kind());
    require(op.kind() != ReduceKind::user || op.function() != nullptr, "op",
            "has no function; make one by ReduceOp::user");
    call_.signature.op = op.kind();
    call_.signature.commutative = op.commutative();
    call_.binding.op = op;
  }
  /// Takes the memory kind from the options, for a call without buffers.
  void set_declared_memory();
  void set_count(std::size_t count) { call_.signature.count = count; }
  void set_input(const ConstBuffer& buffer, const char* name) {
    check_buffer(buffer, name);
    call_.binding.input = buffer.data;
  }
  void set_output(const Buffer& buffer, const char* name) {
    check_buffer(buffer, name);
    call_.binding.output = buffer.data;
  }
  /// Replaces a buffer that has a layout by a contiguous copy; calls with counts refuse layouts. An output says whether
  /// the call reads it too, and whether it writes it.
  void pack(ConstBuffer& buffer, const char* name) {
    if (buffer.layout) [[unlikely]]
      replace(buffer, name);
  }
  void pack(Buffer& buffer, const char* name, bool is_read, bool is_written = true) {
    if (buffer.layout) [[unlikely]]
      replace(buffer, name, is_read, is_written);
  }
  /// Places the input in the output's memory, as MPI_IN_PLACE does.
  void set_in_place_input(const void* address);
  void set_in_place_output(void* address);

  void require(bool condition, const char* argument, const char* problem) const {
    if (!condition) [[unlikely]]
      refuse(argument, problem);
  }
  [[noreturn]] void refuse(std::string_view argument, std::string_view problem) const;
  void require_count(std::size_t count, std::size_t expected, const char* name, std::string_view why) const {
    if (count != expected) [[unlikely]]
      refuse_count(count, expected, name, why);
  }
  void require_same_type(Datatype a, Datatype b) const {
    if (a != b) [[unlikely]]
      refuse_types(a, b);
  }
  void forbid_in_place(bool is_in_place, const char* name, std::string_view remedy) const {
    if (is_in_place) [[unlikely]]
      refuse_in_place(name, remedy);
  }
  void require_counts(Counts counts, const char* name) const;
  /// Checks that blocks of given sizes lie inside a buffer of `available` elements.
  void require_blocks(Counts counts, Counts displs, std::size_t available, const char* name) const;
  /// Checks that the elements that this rank sends and those that it receives share no memory. Where one of them is
  /// empty, any addresses do: empty arrays often share theirs.
  void require_apart(const Touched& sent, const Touched& received) const {
    if (overlap(sent, received, call_.signature.type.size())) [[unlikely]]
      refuse_overlap(sent, received);
  }

 private:
  /// Does what takes memory, which may run out.
  template <typename Make>
  auto or_break(const Make& make) const {
    return make_or_break(*comm_, operation_name(call_.signature.operation), make);
  }
  [[noreturn]] void refuse(ErrorCode code, std::string_view problem) const;
  [[noreturn]] void refuse_datatype() const;
  [[noreturn]] void refuse_root(int root) const;
  [[noreturn]] void refuse_op(ReduceKind kind) const;
  [[noreturn]] void refuse_count(std::size_t count, std::size_t expected, const char* name, std::string_view why) const;
  [[noreturn]] void refuse_types(Datatype a, Datatype b) const;
  [[noreturn]] void refuse_in_place(const char* name, std::string_view remedy) const;
  [[noreturn]] void refuse_overlap(const Touched& sent, const Touched& received) const;
  template <typename AnyBuffer>
  void check_buffer(const AnyBuffer& buffer, const char* name) {
    forbid_layout(buffer.layout != nullptr, name);
    check_address(buffer.data, buffer.count, name);
    note_memory(buffer.memory, buffer.data);
  }
  void check_address(const void* address, std::size_t count, const char* name) const {
    require(address != nullptr || count == 0, name, "is a null pointer but has elements; pass the buffer's address");
    require(fits_address_space(count, call_.signature.type), name,
            "is larger than the address space; pass the count in elements");
  }
  void note_memory(MemoryKind declared, const void* address) {
    if (!is_of_device(declared, declared_, address)) return;
    call_.signature.memory = MemoryClass::device;
    call_.is_detected = call_.is_detected || (declared == MemoryKind::detect && declared_ == MemoryKind::detect);
  }
  /// what: of BufferCopies::replace(), beside the buffer.
  template <typename AnyBuffer, typename... What>
  void replace(AnyBuffer& buffer, const char* name, What... what);
  BufferCopies& copies_for(const void* address, std::size_t count, MemoryKind declared, Datatype type,
                           const char* name);
  void forbid_layout(bool has_layout, const char* name) const {
    require(!has_layout, name,
            "has a layout, which v-forms and reduce_scatter do not take; copy it to contiguous memory");
  }

  Context* comm_;  ///< kept alive by the caller
  const ContextPtr& state_;
  MemoryKind declared_;
  CheckedCall& call_;
  BufferCopies* copies_ = nullptr;  ///< the call's packing, once a buffer has a layout
};

/// Takes the host MPI's MPI_IN_PLACE, as the address of a buffer, for the library's own.
template <typename... Buffers>
void take_mpi_in_place(Buffers&... buffers) {
  ((buffers.is_in_place = buffers.is_in_place || buffers.data == MPI_IN_PLACE), ...);
}

/// The address of an element of a buffer.
[[nodiscard]] inline const void* element(const ConstBuffer& buffer, std::size_t index) {
  return static_cast<const std::byte*>(buffer.data) + index * buffer.type.size();
}

}  // namespace tutti::detail
