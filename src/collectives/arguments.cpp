// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/arguments.hpp"

#include <fmt/format.h>

#include <tutti/error.hpp>

#include "schedules/registry.hpp"

namespace tutti::detail {

void Arguments::refuse(ErrorCode code, std::string_view problem) const {
  const Operation operation = call_.signature.operation;
  comm_->refuse(flight::call_of(operation));
  throw Error(code, fmt::format("{}, {}: {}", operation_name(operation), comm_->describe(), problem));
}

void Arguments::refuse(std::string_view argument, std::string_view problem) const {
  refuse(ErrorCode::invalid_argument, fmt::format("argument {} {}", argument, problem));
}

void Arguments::refuse_count(std::size_t count, std::size_t expected, const char* name, std::string_view why) const {
  refuse(name, fmt::format("has {} elements, but {} are needed ({}); pass {}", count, expected, why, expected));
}

void Arguments::refuse_types(Datatype a, Datatype b) const {
  refuse(ErrorCode::invalid_datatype,
         fmt::format("arguments send and recv have datatypes {} and {}; pass buffers of the same datatype",
                     datatype_name(a.kind()), datatype_name(b.kind())));
}

void Arguments::refuse_in_place(const char* name, std::string_view remedy) const {
  refuse(name, fmt::format("is in_place; {}", remedy));
}

void Arguments::refuse_datatype() const {
  refuse(ErrorCode::invalid_datatype,
         "the datatype is not one of the library's; use a DatatypeKind or Datatype::bytes(n), n > 0");
}

void Arguments::refuse_root(int root) const {
  refuse("root", fmt::format("is {}; pass a rank from 0 to {}", root, comm_->size - 1));
}

void Arguments::refuse_op(ReduceKind kind) const {
  refuse(ErrorCode::invalid_op,
         fmt::format("argument op is {}, which is not defined for {} here; choose another operation",
                     reduce_op_name(kind), datatype_name(call_.signature.type.kind())));
}

void Arguments::set_declared_memory() {
  if (is_of_device(declared_)) call_.signature.memory = MemoryClass::device;
}

BufferCopies& Arguments::copies_for(const void* address, std::size_t count, MemoryKind declared, Datatype type,
                                    const char* name) {
  set_type(type);
  check_address(address, count, name);
  note_memory(declared, address);
  require(call_.signature.memory == MemoryClass::host, name,
          "has a layout and is in device memory, where layouts are not packed; pack it by a kernel of your own, and "
          "pass contiguous memory");
  if (copies_ == nullptr) {
    auto made = std::make_unique<BufferCopies>(state_);
    copies_ = made.get();
    call_.packing = std::move(made);
  }
  return *copies_;
}

template <typename AnyBuffer, typename... What>
void Arguments::replace(AnyBuffer& buffer, const char* name, What... what) {
  or_break([&] { copies_for(buffer.data, buffer.count, buffer.memory, buffer.type, name).replace(buffer, what...); });
}
template void Arguments::replace(ConstBuffer& buffer, const char* name);
template void Arguments::replace(Buffer& buffer, const char* name, bool is_read, bool is_written);

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
  if (const auto bad = find_bad_block(counts, displs, available, name, "rank")) refuse(bad->argument, bad->problem);
}

std::optional<BadArgument> find_bad_block(Counts counts, Counts displs, std::size_t available, std::string_view buffer,
                                          std::string_view holder) {
  const auto negative = [&](std::string_view list, std::size_t number, std::size_t i) {
    return BadArgument{fmt::format("{}_{}", buffer, list),
                       fmt::format("is {} for {} {}; pass 0 or more", static_cast<std::ptrdiff_t>(number), holder, i)};
  };
  const auto is_negative = [](std::size_t number) { return static_cast<std::ptrdiff_t>(number) < 0; };
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    if (is_negative(counts[i])) return negative("counts", counts[i], i);
    if (is_negative(displs[i])) return negative("displs", displs[i], i);
    if (displs[i] > available || counts[i] > available - displs[i])
      return BadArgument{std::string(buffer),
                         fmt::format("has {} elements, but the block of {} {} ends at element {}; correct its count or "
                                     "displacement",
                                     available, holder, i, displs[i] + counts[i])};
  }
  return std::nullopt;
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
