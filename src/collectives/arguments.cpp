// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/arguments.hpp"

#include <fmt/format.h>

#include <limits>
#include <new>
#include <tutti/error.hpp>

#include "schedules/registry.hpp"

namespace tutti::detail {

void Arguments::refuse(ErrorCode code, std::string_view problem) const {
  const schedules::Operation operation = call_.signature.operation;
  comm_->refuse(operation);
  throw Error(code, fmt::format("{}, {}: {}", schedules::operation_name(operation), comm_->describe(), problem));
}

void Arguments::refuse(std::string_view argument, std::string_view problem) const {
  refuse(ErrorCode::invalid_argument, fmt::format("argument {} {}", argument, problem));
}

std::vector<std::size_t> Arguments::copy_of(Counts counts) const {
  try {
    return {counts.begin(), counts.end()};
  } catch (const std::bad_alloc&) {
    comm_->refuse(call_.signature.operation);
    throw;
  }
}

void Arguments::require_count(std::size_t count, std::size_t expected, const char* name, std::string_view why) const {
  if (count != expected)
    refuse(name, fmt::format("has {} elements, but {} are needed ({}); pass {}", count, expected, why, expected));
}

void Arguments::require_same_type(Datatype a, Datatype b) const {
  if (a == b) return;
  refuse(ErrorCode::invalid_datatype,
         fmt::format("arguments send and recv have datatypes {} and {}; pass buffers of the same datatype",
                     datatype_name(a.kind()), datatype_name(b.kind())));
}

void Arguments::forbid_in_place(bool is_in_place, const char* name, std::string_view remedy) const {
  if (is_in_place) refuse(name, fmt::format("is in_place; {}", remedy));
}

void Arguments::check_address(const void* address, std::size_t count, const char* name) const {
  require(address != nullptr || count == 0, name, "is a null pointer but has elements; pass the buffer's address");
  require(count <= std::numeric_limits<std::ptrdiff_t>::max() / call_.signature.type.size(), name,
          "is larger than the address space; pass the count in elements");
}

void Arguments::note_memory(MemoryKind declared, const void* address) {
  MemoryKind kind = declared != MemoryKind::detect ? declared : declared_;
  if (kind == MemoryKind::detect) kind = memory_kind(address);
  if (is_of_device(kind)) call_.signature.memory = MemoryClass::device;
}

void Arguments::set_declared_memory() {
  if (is_of_device(declared_)) call_.signature.memory = MemoryClass::device;
}

void Arguments::set_type(Datatype type) {
  if (!is_datatype(type))
    refuse(ErrorCode::invalid_datatype,
           "the datatype is not one of the library's; use a DatatypeKind or Datatype::bytes(n), n > 0");
  call_.signature.type = type;
}

void Arguments::set_root(int root) {
  if (root < 0 || root >= comm_->size)
    refuse("root", fmt::format("is {}; pass a rank from 0 to {}", root, comm_->size - 1));
  call_.signature.root = root;
}

void Arguments::set_op(const ReduceOp& op, bool allows_avg) {
  const Datatype type = call_.signature.type;
  const bool defined = is_defined(op.kind(), type.kind()) && (allows_avg || op.kind() != ReduceKind::avg);
  if (!defined)
    refuse(ErrorCode::invalid_op,
           fmt::format("argument op is {}, which is not defined for {} here; choose another operation",
                       reduce_op_name(op.kind()), datatype_name(type.kind())));
  require(op.kind() != ReduceKind::user || op.function() != nullptr, "op",
          "has no function; make one by ReduceOp::user");
  call_.signature.op = op.kind();
  call_.signature.commutative = op.commutative();
  call_.binding.op = op;
}

Packing& Arguments::packing_of(const void* address, std::size_t count, MemoryKind declared, Datatype type,
                               const char* name) {
  set_type(type);
  check_address(address, count, name);
  note_memory(declared, address);
  require(call_.signature.memory == MemoryClass::host, name,
          "has a layout and is in device memory, where layouts are not packed; pack it by a kernel of your own, and "
          "pass contiguous memory");
  if (!call_.packing) call_.packing = std::make_unique<Packing>(state_);
  return *call_.packing;
}

void Arguments::pack(ConstBuffer& buffer, const char* name) {
  if (buffer.layout) packing_of(buffer.data, buffer.count, buffer.memory, buffer.type, name).replace(buffer);
}

void Arguments::pack(Buffer& buffer, const char* name, bool is_read, bool is_written) {
  if (buffer.layout)
    packing_of(buffer.data, buffer.count, buffer.memory, buffer.type, name).replace(buffer, is_read, is_written);
}

void Arguments::set_input(const ConstBuffer& buffer, const char* name) {
  forbid_layout(buffer.layout != nullptr, name);
  check_address(buffer.data, buffer.count, name);
  note_memory(buffer.memory, buffer.data);
  call_.binding.input = buffer.data;
}

void Arguments::set_output(const Buffer& buffer, const char* name) {
  forbid_layout(buffer.layout != nullptr, name);
  check_address(buffer.data, buffer.count, name);
  note_memory(buffer.memory, buffer.data);
  call_.binding.output = buffer.data;
}

void Arguments::set_in_place_input(const void* address) {
  call_.binding.input = address;
  call_.binding.in_place = true;
}

void Arguments::set_in_place_output(void* address) {
  call_.binding.output = address;
  call_.binding.in_place = true;
}

void Arguments::require_counts(Counts counts, const char* name) const {
  require_count(counts.size(), size(), name, "one per rank");
}

void Arguments::require_blocks(Counts counts, Counts displs, std::size_t available, const char* name) const {
  for (std::size_t r = 0; r < counts.size(); ++r)
    if (counts[r] > 0 && (displs[r] > available || counts[r] > available - displs[r]))
      refuse(
          name,
          fmt::format("has {} elements, but the block of rank {} ends at element {}; correct its count or displacement",
                      available, r, displs[r] + counts[r]));
}

void Arguments::refuse_overlap(const Touched& sent, const Touched& received) const {
  if (sent.address == received.address) refuse("recv", "is the same address as send; pass in_place as send");
  const auto* send = static_cast<const std::byte*>(sent.address);
  const auto* recv = static_cast<const std::byte*>(received.address);
  refuse("recv", fmt::format("overlaps argument send: it begins {} bytes {} the beginning of send; pass buffers that "
                             "share no element",
                             send < recv ? recv - send : send - recv, send < recv ? "behind" : "before"));
}

}  // namespace tutti::detail
