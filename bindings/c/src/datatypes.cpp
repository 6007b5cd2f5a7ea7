// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tutti/mpi.hpp>

#include "fortran_handles.h"
#include "guard.hpp"
#include "handles.hpp"

// A datatype's handle is its number. The handle of bytes(n), n > 1, has n in the bits above.
namespace tutti::c {
namespace {

constexpr int size_shift = 8;
constexpr tutti_datatype_t number_mask = (tutti_datatype_t{1} << size_shift) - 1;
constexpr std::size_t most_bytes = std::size_t{1} << 54;

bool is_known(tutti_datatype_t type) noexcept {
  const tutti_datatype_t number = type & number_mask;
  if (type < 0) return false;
  return number == TUTTI_BYTE || is_plain(type);
}

[[noreturn]] void refuse(tutti_datatype_t type, const char* argument) {
  if (derived(type, argument))
    throw_misuse(ErrorCode::invalid_datatype,
                 fmt::format("argument {} is a derived datatype, which only point-to-point, bcast, gather, scatter, "
                             "allgather and alltoall take; pass contiguous elements and their datatype",
                             argument));
  throw_misuse(ErrorCode::invalid_datatype,
               fmt::format("argument {} is {}, which is not a datatype; pass a constant of tutti.h or "
                           "tutti_datatype_bytes(n) with n > 0",
                           argument, type));
}

}  // namespace

Datatype bytes_datatype(tutti_datatype_t type, const char* argument) {
  if (!is_known(type)) refuse(type, argument);
  return Datatype::bytes(static_cast<std::size_t>(type >> size_shift));
}

tutti_datatype_t datatype_handle(Datatype type) noexcept {
  return type.kind() == DatatypeKind::bytes ? tutti_datatype_bytes(type.size())
                                            : static_cast<tutti_datatype_t>(type.kind());
}

}  // namespace tutti::c

using namespace tutti::c;

tutti_datatype_t tutti_datatype_bytes(size_t count) {
  if (count == 1) return TUTTI_BYTE;
  if (count == 0 || count > most_bytes) return TUTTI_DATATYPE_NULL;
  return (static_cast<tutti_datatype_t>(count) << size_shift) | TUTTI_BYTE;
}

int tutti_datatype_size(tutti_datatype_t datatype, size_t* size) {
  return guard([&] {
    const auto made = derived(datatype, "datatype");
    output(size, "size") = made ? made->send.elements() * made->element.size() : tutti::c::datatype(datatype).size();
  });
}

const char* tutti_datatype_name(tutti_datatype_t datatype) {
  return is_known(datatype) ? tutti::datatype_name(static_cast<tutti::DatatypeKind>(datatype & number_mask))
                            : "unknown datatype";
}

int tutti_datatype_from_mpi(MPI_Datatype mpi_datatype, tutti_datatype_t* datatype) {
  return guard([&] { output(datatype, "datatype") = datatype_handle(tutti::datatype_from(mpi_datatype)); });
}

int tutti_datatype_from_mpi_f(tutti_fint_t mpi_datatype, tutti_datatype_t* datatype) {
  return tutti_datatype_from_mpi(TUTTI_TYPE_FROM_FORTRAN(mpi_datatype), datatype);
}
