// SPDX-License-Identifier: BSD-3-Clause
#include "handles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "guard.hpp"

namespace tutti::c {

void throw_null(const char* argument, const char* remedy) {
  throw_misuse(ErrorCode::invalid_argument, fmt::format("argument {} is NULL; {}", argument, remedy));
}

void throw_stale(ErrorCode code, const char* argument, const char* noun) {
  throw_misuse(code,
               fmt::format("argument {} is no {}: it was freed through another copy of the handle, or never made; "
                           "set every copy of a handle to NULL when you free it",
                           argument, noun));
}

void throw_null_communicator(const char* argument) {
  throw_misuse(ErrorCode::invalid_communicator,
               fmt::format("argument {} is TUTTI_COMM_NULL; create it with tutti_comm_duplicate, _adopt, _borrow "
                           "or _split, and do not use it after tutti_comm_free",
                           argument));
}

void give_text(const std::string& made, char* text, std::size_t capacity, std::size_t* length) {
  output(length, "length") = made.size();
  if (capacity == 0) return;
  if (text == nullptr) throw_null("text", "pass an array");
  text[made.copy(text, capacity - 1)] = '\0';
}

Stream stream_of(int kind, void* handle) {
  if (kind != TUTTI_STREAM_NONE && kind != TUTTI_STREAM_CUDA)
    throw_misuse(ErrorCode::invalid_argument,
                 fmt::format("argument stream_kind is {}; pass TUTTI_STREAM_NONE or _CUDA", kind));
  return {static_cast<StreamKind>(kind), handle};
}

std::size_t blocks(std::size_t count, std::size_t blocks) noexcept {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  return blocks != 0 && count > most / blocks ? most - most % blocks : count * blocks;
}

std::span<const std::size_t> per_rank(const Communicator& comm, const std::size_t* numbers) noexcept {
  if (numbers == nullptr) return {};
  return {numbers, static_cast<std::size_t>(comm.size())};
}

std::size_t extent(std::span<const std::size_t> counts, std::span<const std::size_t> displs) noexcept {
  std::size_t end = 0;
  for (std::size_t r = 0; r < std::min(counts.size(), displs.size()); ++r) {
    const std::size_t room = std::numeric_limits<std::size_t>::max() - displs[r];
    if (counts[r] > 0) end = std::max(end, displs[r] + std::min(counts[r], room));
  }
  return end;
}

std::size_t total(std::span<const std::size_t> counts) noexcept {
  std::size_t sum = 0;
  for (const std::size_t count : counts) sum += count;
  return sum;
}

}  // namespace tutti::c
