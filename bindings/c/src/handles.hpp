// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti.h>

#include <cstddef>
#include <memory>
#include <optional>
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
[[noreturn]] void throw_null_communicator(const char* argument);
inline const Communicator& communicator(tutti_comm_t comm, const char* argument = "comm") {
  if (comm == nullptr) [[unlikely]]
    throw_null_communicator(argument);
  return record_of(comm, argument).comm;
}
/// Returns true for a datatype whose handle is its kind: all of the library's, but of bytes only the single one.
[[nodiscard]] inline bool is_plain(tutti_datatype_t type) noexcept { return type >= TUTTI_INT8 && type <= TUTTI_BYTE; }
[[nodiscard]] Datatype bytes_datatype(tutti_datatype_t type, const char* argument);
[[nodiscard]] inline Datatype datatype(tutti_datatype_t type, const char* argument = "datatype") {
  if (is_plain(type)) [[likely]]
    return static_cast<DatatypeKind>(type);
  return bytes_datatype(type, argument);
}
[[nodiscard]] tutti_datatype_t datatype_handle(Datatype type) noexcept;
[[nodiscard]] Options options(const tutti_options_t* given);
/// The options of a call, which are made only if the caller gives any.
class GivenOptions {
 public:
  explicit GivenOptions(const tutti_options_t* given) {
    if (given != nullptr) [[unlikely]]
      values_.emplace(options(given));
  }
  // NOLINTNEXTLINE(google-explicit-constructor): stands for the options in a call
  operator const Options&() const noexcept { return values_ ? *values_ : none; }

 private:
  static inline const Options none{};
  std::optional<Options> values_;
};
[[nodiscard]] CommunicatorOptions options(const tutti_comm_options_t* given);

[[nodiscard]] inline bool is_built_in(tutti_op_t op) noexcept {
  return op >= TUTTI_SUM && op <= TUTTI_MAXLOC && op != static_cast<tutti_op_t>(ReduceKind::premul_sum);
}
[[nodiscard]] Operation made_operation(tutti_op_t op);
[[nodiscard]] inline Operation operation(tutti_op_t op) {
  if (is_built_in(op)) [[likely]]
    return {ReduceOp(static_cast<ReduceKind>(op)), nullptr};
  return made_operation(op);
}
[[nodiscard]] Stream stream_of(int kind, void* handle);

/// The meaning of a handle of a derived datatype.
struct Derived {
  Datatype element;
  Layout send;
  Layout recv;
  bool has_sides = false;  ///< made by tutti_datatype_sides
};

/// Returns null for a datatype that is not derived; throws if it was freed or never made.
[[nodiscard]] std::shared_ptr<const Derived> derived(tutti_datatype_t type, const char* argument);

/// Buffers of `count` elements, or repetitions of a derived datatype.
[[nodiscard]] ConstBuffer sent_derived(const void* address, std::size_t count, tutti_datatype_t type,
                                       const char* argument);
[[nodiscard]] Buffer received_derived(void* address, std::size_t count, tutti_datatype_t type, const char* argument);
[[nodiscard]] inline ConstBuffer sent(const void* address, std::size_t count, tutti_datatype_t type,
                                      const char* argument = "datatype") {
  if (!is_plain(type)) [[unlikely]]
    return sent_derived(address, count, type, argument);
  return {address, count, Datatype(static_cast<DatatypeKind>(type))};
}
[[nodiscard]] inline Buffer received(void* address, std::size_t count, tutti_datatype_t type,
                                     const char* argument = "datatype") {
  if (!is_plain(type)) [[unlikely]]
    return received_derived(address, count, type, argument);
  return {address, count, Datatype(static_cast<DatatypeKind>(type))};
}
/// The same; TUTTI_IN_PLACE becomes in_place.
[[nodiscard]] inline bool is_in_place(const void* address) noexcept {
  return address == TUTTI_IN_PLACE || address == MPI_IN_PLACE;
}
[[nodiscard]] inline ConstBuffer input(const void* address, std::size_t count, tutti_datatype_t type) {
  if (is_in_place(address)) return in_place;
  return sent(address, count, type);
}
[[nodiscard]] inline Buffer output(void* address, std::size_t count, tutti_datatype_t type) {
  if (is_in_place(address)) return in_place;
  return received(address, count, type);
}
/// `blocks` blocks of `count` elements. A product that does not fit becomes too large for any memory; it never wraps.
[[nodiscard]] std::size_t blocks(std::size_t count, std::size_t blocks) noexcept;

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
