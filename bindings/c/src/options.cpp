// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "handles.hpp"

namespace tutti::c {
namespace {

[[noreturn]] void refuse(const char* member, const std::string& problem) {
  throw Error(ErrorCode::invalid_argument, fmt::format("argument options: member {} {}", member, problem));
}

/// The caller's struct, as long as the caller knows it, over the defaults.
template <typename Struct>
Struct read(const Struct* given, Struct values, int newest, const char* init) {
  const std::size_t least = offsetof(Struct, version) + sizeof(values.version);
  if (given->size < least || given->size > sizeof(Struct))
    refuse("size", fmt::format("is {}; begin with {}", given->size, init));
  if (given->version < 1 || given->version > newest)
    refuse("version", fmt::format("is {}; this library knows 1 to {}; begin with {}", given->version, newest, init));
  std::memcpy(&values, given, given->size);
  return values;
}

std::chrono::nanoseconds timeout(double seconds) {
  constexpr double longest = 9e9;
  if (!(seconds >= 0.0) || seconds > longest)
    refuse("timeout", fmt::format("is {}; pass seconds from 0 (none) to {}", seconds, longest));
  return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

int within(std::int32_t value, int most, const char* member) {
  if (value < 0 || value > most) refuse(member, fmt::format("is {}; pass a number from 0 to {}", value, most));
  return value;
}

}  // namespace

Options options(const tutti_options_t* given) {
  if (given == nullptr) return {};
  const auto values = read(given, tutti_options_t TUTTI_OPTIONS_INIT, TUTTI_OPTIONS_VERSION, "TUTTI_OPTIONS_INIT");
  Options result;
  result.stream =
      Stream(static_cast<StreamKind>(within(values.stream_kind, TUTTI_STREAM_CUDA, "stream_kind")), values.stream);
  result.memory = static_cast<MemoryKind>(within(values.memory, TUTTI_MEMORY_MANAGED, "memory"));
  result.accumulation =
      static_cast<Accumulation>(within(values.accumulation, TUTTI_ACCUMULATION_BACKEND, "accumulation"));
  result.reproducible = values.reproducible != 0;
  result.timeout = timeout(values.timeout);
  if (values.algorithm != nullptr) result.algorithm = values.algorithm;
  return result;
}

CommunicatorOptions options(const tutti_comm_options_t* given) {
  if (given == nullptr) return {};
  const auto values =
      read(given, tutti_comm_options_t TUTTI_COMM_OPTIONS_INIT, TUTTI_COMM_OPTIONS_VERSION, "TUTTI_COMM_OPTIONS_INIT");
  CommunicatorOptions result;
  result.timeout = timeout(values.timeout);
  result.reproducible = values.reproducible != 0;
  result.native_blocking = values.native_blocking != 0;
  if (values.name != nullptr) result.name = values.name;
  return result;
}

}  // namespace tutti::c
