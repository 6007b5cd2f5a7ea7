// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>
#include <tutti.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <tutti/error.hpp>
#include <tutti/options.hpp>

namespace tutti::c {

/// The name of the argument that options structs are passed in.
inline constexpr const char* options_argument = "options";

[[noreturn]] inline void refuse_member(const char* argument, const char* member, const std::string& problem) {
  throw Error(ErrorCode::invalid_argument, fmt::format("argument {}: member {} {}", argument, member, problem));
}

/// The caller's struct, as long as the caller knows it, over the defaults.
template <typename Struct>
Struct read_struct(const Struct* given, Struct values, int newest, const char* argument, const char* init) {
  const std::size_t least = offsetof(Struct, version) + sizeof(values.version);
  if (given->size < least || given->size > sizeof(Struct))
    refuse_member(argument, "size", fmt::format("is {}; initialise with {}", given->size, init));
  if (given->version < 1 || given->version > newest)
    refuse_member(argument, "version",
                  fmt::format("is {}; this library knows 1 to {}; initialise with {}", given->version, newest, init));
  std::memcpy(static_cast<void*>(&values), given, given->size);
  return values;
}

/// A number from `least` to `most`.
template <typename Number>
Number within(Number value, Number least, Number most, const char* argument, const char* member) {
  if (!(value >= least && value <= most))
    refuse_member(argument, member, fmt::format("is {}; pass a number from {} to {}", value, least, most));
  return value;
}

/// The members by which structs name memory and a stream.
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
