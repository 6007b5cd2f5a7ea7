// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tutti/buffer.hpp>
#include <tutti/error.hpp>
#include <tutti/mpi.hpp>
#include <vector>

#include "core/mpi_call.hpp"
#include "core/mpi_types.hpp"

namespace tutti {
namespace {

[[noreturn]] void refuse_type(const char* problem) {
  throw Error(
      ErrorCode::invalid_datatype,
      fmt::format("datatype_from: argument type {}; pass a predefined type of a size from 1 to 8 bytes, a pair of "
                  "int, long, float or double, or a derived type without gaps",
                  problem));
}

using Types = std::vector<MPI_Datatype>;

bool has(const Types& types, MPI_Datatype type) { return std::find(types.begin(), types.end(), type) != types.end(); }

// Types that an MPI may lack are MPI_DATATYPE_NULL, which is refused beforehand.
const Types& signed_integers() {
  static const Types types{MPI_CHAR,      MPI_SIGNED_CHAR, MPI_SHORT,    MPI_INT,      MPI_LONG,
                           MPI_LONG_LONG, MPI_INT8_T,      MPI_INT16_T,  MPI_INT32_T,  MPI_INT64_T,
                           MPI_WCHAR,     MPI_AINT,        MPI_OFFSET,   MPI_COUNT,    MPI_INTEGER,
                           MPI_INTEGER1,  MPI_INTEGER2,    MPI_INTEGER4, MPI_INTEGER8, MPI_CHARACTER};
  return types;
}
const Types& unsigned_integers() {
  static const Types types{MPI_UNSIGNED_CHAR,     MPI_BYTE,     MPI_PACKED,        MPI_UNSIGNED_SHORT, MPI_UNSIGNED,
                           MPI_UINT8_T,           MPI_UINT16_T, MPI_UNSIGNED_LONG, MPI_UINT32_T,       MPI_UINT64_T,
                           MPI_UNSIGNED_LONG_LONG};
  return types;
}
const Types& reals() {
  static const Types types{MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8};
  return types;
}
const Types& complexes() {
  static const Types types{MPI_C_FLOAT_COMPLEX,   MPI_C_DOUBLE_COMPLEX,  MPI_COMPLEX,
                           MPI_DOUBLE_COMPLEX,    MPI_COMPLEX8,          MPI_COMPLEX16,
#ifdef MPI_CXX_FLOAT_COMPLEX
                           MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX
#endif
  };
  return types;
}
const Types& logicals() {
  static const Types types{MPI_C_BOOL, MPI_LOGICAL,
#ifdef MPI_CXX_BOOL
                           MPI_CXX_BOOL
#endif
  };
  return types;
}

/// The kinds of one family for elements of 1, 2, 4, 8 and 16 bytes.
DatatypeKind kind_of_size(int size, std::array<DatatypeKind, 5> kinds) {
  constexpr std::array<int, 5> sizes{1, 2, 4, 8, 16};
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] == size && kinds[i] != DatatypeKind::bytes) return kinds[i];
  refuse_type("has a size that Tutti has no type of");
}

int size_of(MPI_Datatype type) {
  int size = 0;
  detail::check_mpi(MPI_Type_size(type, &size), "MPI_Type_size");
  return size;
}

/// A pair, or `bytes` for every other type. MPI_LONG_INT is a pair of Tutti where long has 64 bits.
DatatypeKind pair_of(MPI_Datatype type) {
  using Kind = DatatypeKind;
  if (type == MPI_FLOAT_INT) return Kind::float32_int32;
  if (type == MPI_DOUBLE_INT) return Kind::float64_int32;
  if (type == MPI_2INT) return Kind::int32_int32;
  if (type == MPI_LONG_INT) return sizeof(long) == 8 ? Kind::int64_int32 : Kind::bytes;
  if (type == MPI_2INTEGER) return size_of(type) == 8 ? Kind::int32_int32 : Kind::int64_int64;
  if (type == MPI_2REAL) return size_of(type) == 8 ? Kind::float32_float32 : Kind::float64_float64;
  if (type == MPI_2DOUBLE_PRECISION) return Kind::float64_float64;
  return Kind::bytes;
}

/// The bytes of a derived type without gaps.
Datatype bytes_of(MPI_Datatype type) {
  int numbers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  detail::check_mpi(MPI_Type_get_envelope(type, &numbers, &addresses, &types, &combiner), "MPI_Type_get_envelope");
  if (combiner == MPI_COMBINER_NAMED) refuse_type("is a predefined type that Tutti lacks");
  MPI_Count size = 0;
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  MPI_Count true_lower = 0;
  MPI_Count true_extent = 0;
  detail::check_mpi(MPI_Type_size_x(type, &size), "MPI_Type_size_x");
  detail::check_mpi(MPI_Type_get_extent_x(type, &lower, &extent), "MPI_Type_get_extent_x");
  detail::check_mpi(MPI_Type_get_true_extent_x(type, &true_lower, &true_extent), "MPI_Type_get_true_extent_x");
  if (size <= 0 || lower != 0 || true_lower != 0 || extent != size || true_extent != size)
    refuse_type("is a derived type with gaps");
  return Datatype::bytes(static_cast<std::size_t>(size));
}

}  // namespace

Datatype datatype_from(MPI_Datatype type) {
  using Kind = DatatypeKind;
  if (!detail::mpi_is_usable())
    throw Error(ErrorCode::finalized, "datatype_from: MPI is not running; call it between MPI_Init and MPI_Finalize");
  if (type == MPI_DATATYPE_NULL) refuse_type("is MPI_DATATYPE_NULL, or a type that this MPI lacks");
  if (has(signed_integers(), type))
    return kind_of_size(size_of(type), {Kind::int8, Kind::int16, Kind::int32, Kind::int64, Kind::bytes});
  if (has(unsigned_integers(), type))
    return kind_of_size(size_of(type), {Kind::uint8, Kind::uint16, Kind::uint32, Kind::uint64, Kind::bytes});
  if (has(reals(), type))
    return kind_of_size(size_of(type), {Kind::bytes, Kind::bytes, Kind::float32, Kind::float64, Kind::bytes});
  if (has(complexes(), type))
    return kind_of_size(size_of(type), {Kind::bytes, Kind::bytes, Kind::bytes, Kind::complex64, Kind::complex128});
  if (has(logicals(), type))
    return kind_of_size(size_of(type),
                        {Kind::logical8, Kind::logical16, Kind::logical32, Kind::logical64, Kind::bytes});
  const Kind pair = pair_of(type);
  return pair != Kind::bytes ? Datatype(pair) : bytes_of(type);
}

ReduceOp reduce_op_from(MPI_Op op) {
  for (int kind = static_cast<int>(ReduceKind::sum); op != MPI_OP_NULL && kind < static_cast<int>(ReduceKind::user);
       ++kind)
    if (detail::mpi_op(static_cast<ReduceKind>(kind)) == op) return static_cast<ReduceKind>(kind);
  throw Error(ErrorCode::invalid_op,
              "reduce_op_from: argument op is no predefined reduction of MPI; make an operation of a function of yours "
              "by ReduceOp::user (C: tutti_op_user)");
}

namespace detail {

bool require_mpi_in_place(const void* address) {
  if (address == MPI_IN_PLACE) return true;
  throw Error(
      ErrorCode::invalid_argument,
      "Buffer: an address alone is a buffer only if it is MPI_IN_PLACE; pass the address, a count and a datatype");
}

}  // namespace detail
}  // namespace tutti
