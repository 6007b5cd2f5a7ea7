// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/options.hpp>
#include <tutti/point_to_point.hpp>
#include <tutti/reduce_op.hpp>
#include <tutti/request.hpp>

#include "guard.hpp"
#include "handle_table.hpp"

namespace tutti::c {

/// What a handle made by tutti_op_user or tutti_op_premul_sum stands for.
struct OpRecord {
  tutti_user_function_t function = nullptr;
  void* context = nullptr;
  bool commutative = true;
  double scalar = 1.0;
};

/// Keeps a record alive while a call uses it; empty for the operations of the library.
using OpReference = std::shared_ptr<OpRecord>;

struct Operation {
  ReduceOp op;
  OpReference record;
};

struct CommRecord {
  Communicator comm;
};

struct RequestRecord {
  Request request;
  OpReference op;  // keeps a user's operation while the request lives
};

struct GroupRecord {
  tutti::Group group;
};

/// What stands behind a kind of handle: its table, its name, and the error for a handle that is none.
template <typename Handle>
struct HandleKind;
template <>
struct HandleKind<tutti_comm_t> {
  static inline constinit HandleTable<CommRecord> table{1};
  static constexpr const char* noun = "communicator";
  static constexpr ErrorCode code = ErrorCode::invalid_communicator;
};
template <>
struct HandleKind<tutti_request_t> {
  static inline constinit HandleTable<RequestRecord> table{2};
  static constexpr const char* noun = "request";
  static constexpr ErrorCode code = ErrorCode::invalid_request;
};
template <>
struct HandleKind<tutti_group_t> {
  static inline constinit HandleTable<GroupRecord> table{3};
  static constexpr const char* noun = "group";
  static constexpr ErrorCode code = ErrorCode::invalid_argument;
};

/// The object behind a handle that is not NULL. Throws if the handle stands for none.
[[noreturn]] void throw_stale(ErrorCode code, const char* argument, const char* noun);
template <typename Handle>
[[nodiscard]] auto& record_of(Handle handle, const char* argument) {
  using Kind = HandleKind<Handle>;
  if (auto* record = Kind::table.find(reinterpret_cast<std::uintptr_t>(handle))) return *record;
  throw_stale(Kind::code, argument, Kind::noun);
}
template <typename Handle, typename Record>
[[nodiscard]] Handle make_handle(Record&& record) {
  return reinterpret_cast<Handle>(HandleKind<Handle>::table.insert(std::forward<Record>(record)));
}
template <typename Handle>
void free_record(Handle handle, const char* argument) {
  using Kind = HandleKind<Handle>;
  if (!Kind::table.erase(reinterpret_cast<std::uintptr_t>(handle))) throw_stale(Kind::code, argument, Kind::noun);
}

/// These turn arguments of C into those of C++. A wrong value throws an Error that names the argument.
const Communicator& communicator(tutti_comm_t comm, const char* argument = "comm");
[[nodiscard]] Datatype datatype(tutti_datatype_t type, const char* argument = "datatype");
[[nodiscard]] tutti_datatype_t datatype_handle(Datatype type) noexcept;
[[nodiscard]] Options options(const tutti_options_t* given);
[[nodiscard]] CommunicatorOptions options(const tutti_comm_options_t* given);

[[nodiscard]] Operation operation(tutti_op_t op);
[[nodiscard]] Stream stream_of(int kind, void* handle);

/// Buffers of `count` elements, or repetitions of a derived datatype.
[[nodiscard]] ConstBuffer sent(const void* address, std::size_t count, tutti_datatype_t type,
                               const char* argument = "datatype");
[[nodiscard]] Buffer received(void* address, std::size_t count, tutti_datatype_t type,
                              const char* argument = "datatype");
/// The same; TUTTI_IN_PLACE becomes in_place.
[[nodiscard]] ConstBuffer input(const void* address, std::size_t count, tutti_datatype_t type);
[[nodiscard]] Buffer output(void* address, std::size_t count, tutti_datatype_t type);
/// `blocks` blocks of `count` elements. A product that does not fit becomes too large for any memory; it never wraps.
[[nodiscard]] std::size_t blocks(std::size_t count, std::size_t blocks) noexcept;
[[nodiscard]] inline bool is_in_place(const void* address) noexcept {
  return address == TUTTI_IN_PLACE || address == MPI_IN_PLACE;
}

/// One number for each rank. NULL gives an empty span, which the call refuses if it needs the numbers.
[[nodiscard]] std::span<const std::size_t> per_rank(const Communicator& comm, const std::size_t* numbers) noexcept;
/// Elements up to the end of the last block.
[[nodiscard]] std::size_t extent(std::span<const std::size_t> counts, std::span<const std::size_t> displs) noexcept;
/// Sum of the counts.
[[nodiscard]] std::size_t total(std::span<const std::size_t> counts) noexcept;

/// The place for a result; NULL is refused.
[[noreturn]] void throw_null(const char* argument, const char* remedy);
template <typename T>
T& output(T* place, const char* argument) {
  if (place == nullptr) throw_null(argument, "pass the address of a variable");
  return *place;
}

/// Frees the object behind a handle and sets the handle to NULL, which is allowed as input too.
template <typename Handle>
int free_handle(Handle* place, const char* argument) noexcept {
  return guard([&] {
    Handle& handle = output(place, argument);
    if (handle != nullptr) free_record(handle, argument);
    handle = nullptr;
  });
}

/// Copies a text and its terminating null character, cut to the caller's capacity.
void give_text(const std::string& made, char* text, std::size_t capacity, std::size_t* length);

/// Fills in a caller's status; NULL means that it is not wanted.
inline void give_status(tutti_status_t* place, const Status& found) noexcept {
  if (place != nullptr) *place = {found.source, found.tag, found.count};
}

/// Makes a handle for the request that `make` returns. If `make` throws, *request is TUTTI_REQUEST_NULL.
template <typename Make>
void start(tutti_request_t* request, OpReference op, Make&& make) {
  tutti_request_t& place = output(request, "request");
  place = nullptr;
  const auto handle = make_handle<tutti_request_t>(RequestRecord{Request(), std::move(op)});
  try {
    record_of(handle, "request").request = make();
  } catch (...) {
    free_record(handle, "request");
    throw;
  }
  place = handle;
}
template <typename Make>
void start(tutti_request_t* request, Make&& make) {
  start(request, OpReference(), std::forward<Make>(make));
}

}  // namespace tutti::c
