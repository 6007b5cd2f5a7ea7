// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti.h>

#include <cstddef>
#include <span>
#include <string>
#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/options.hpp>
#include <tutti/point_to_point.hpp>
#include <tutti/reduce_op.hpp>
#include <tutti/request.hpp>

#include "guard.hpp"
#include "operations.hpp"

struct tutti_comm_s {
  tutti::Communicator comm;
};

struct tutti_request_s {
  tutti::Request request;
  tutti::c::OpReference op;  // keeps a user's operation while the request lives
};

struct tutti_group_s {
  tutti::Group group;
};

namespace tutti::c {

/// From what C passes to what C++ takes; a wrong value throws an Error that names the argument.
const Communicator& communicator(tutti_comm_t comm, const char* argument = "comm");
[[nodiscard]] Datatype datatype(tutti_datatype_t type, const char* argument = "datatype");
[[nodiscard]] tutti_datatype_t datatype_handle(Datatype type) noexcept;
[[nodiscard]] Options options(const tutti_options_t* given);
[[nodiscard]] CommunicatorOptions options(const tutti_comm_options_t* given);

/// Buffers; TUTTI_IN_PLACE becomes in_place.
[[nodiscard]] ConstBuffer input(const void* address, std::size_t count, tutti_datatype_t type);
[[nodiscard]] Buffer output(void* address, std::size_t count, tutti_datatype_t type);
/// `blocks` blocks of `count` elements; more than memory can hold is told as such, never wrapped.
[[nodiscard]] std::size_t blocks(std::size_t count, std::size_t blocks) noexcept;
[[nodiscard]] inline bool is_in_place(const void* address) noexcept { return address == TUTTI_IN_PLACE; }

/// One number a rank; nothing for a null array, which the call then refuses where it needs it.
[[nodiscard]] std::span<const std::size_t> per_rank(const Communicator& comm, const std::size_t* numbers) noexcept;
/// The elements up to the end of the last block, and the sum of the counts.
[[nodiscard]] std::size_t extent(std::span<const std::size_t> counts, std::span<const std::size_t> displs) noexcept;
[[nodiscard]] std::size_t total(std::span<const std::size_t> counts) noexcept;

/// The place for a result, which must not be null.
[[noreturn]] void throw_null(const char* argument, const char* remedy);
template <typename T>
T& output(T* place, const char* argument) {
  if (place == nullptr) throw_null(argument, "pass the address of a variable");
  return *place;
}

/// A text with its end mark, cut to the caller's capacity.
void give_text(const std::string& made, char* text, std::size_t capacity, std::size_t* length);

/// Makes a request handle of what `make` starts; `request` is NULL when it throws.
template <typename Make>
void start(tutti_request_t* request, OpReference op, Make&& make) {
  tutti_request_t& place = output(request, "request");
  place = nullptr;
  auto* handle = new tutti_request_s{Request(), std::move(op)};
  try {
    handle->request = make();
  } catch (...) {
    delete handle;
    throw;
  }
  place = handle;
}
template <typename Make>
void start(tutti_request_t* request, Make&& make) {
  start(request, OpReference(), std::forward<Make>(make));
}

}  // namespace tutti::c
