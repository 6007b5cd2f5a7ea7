// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>
#include <tutti.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <tutti/error.hpp>
#include <tutti/options.hpp>

#include "guard.hpp"

namespace tutti::c {

/// The name of the argument that options structs are passed in.
inline constexpr const char* options_argument = "options";

[[noreturn]] inline void refuse_member(const char* argument, const char* member, const std::string& problem) {
  throw_misuse(ErrorCode::invalid_argument, fmt::format("argument {}: member {} {}", argument, member, problem));
}

/// Copies the caller's struct over the defaults: `size` bytes of it, since older callers' structs are shorter.
template <typename Struct>
Struct read_struct(const Struct* given, Struct values, int newest, const char* argument, const char* init) {
  const std::size_t least = offsetof(Struct, version) + sizeof(values.version);
  if (given->size < least || given->size > sizeof(Struct))
    refuse_member(argument, "size", fmt::format("is {}; initialise the struct with {}", given->size, init));
  if (given->version < 1 || given->version > newest)
    refuse_member(argument, "version",
                  fmt::format("is {}; this library supports 1 to {}; initialise the struct with {}", given->version,
                              newest, init));
  std::memcpy(static_cast<void*>(&values), given, given->size);
  return values;
}

/// Returns a number that lies between `least` and `most`; refuses any other.
template <typename Number>
Number within(Number value, Number least, Number most, const char* argument, const char* member) {
  if (!(value >= least && value <= most))
    refuse_member(argument, member, fmt::format("is {}; pass a number from {} to {}", value, least, most));
  return value;
}

/// Read the members that all option structs have: kind of memory, and stream.
template <typename Struct>
MemoryKind memory_of(const Struct& values, const char* argument) {
  return static_cast<MemoryKind>(within<int>(values.memory, 0, TUTTI_MEMORY_MANAGED, argument, "memory"));
}
template <typename Struct>
Stream stream_of(const Struct& values, const char* argument) {
  const int kind = within<int>(values.stream_kind, 0, TUTTI_STREAM_CUDA, argument, "stream_kind");
  return {static_cast<StreamKind>(kind), values.stream};
}

}  // namespace tutti::c
