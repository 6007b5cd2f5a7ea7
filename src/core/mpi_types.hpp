// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <tutti/reduce_op.hpp>

namespace tutti::detail {

/// The MPI datatype of a Tutti datatype, or MPI_DATATYPE_NULL if MPI has none with the same meaning in reductions;
/// bytes(n) is moved as n times MPI_BYTE.
[[nodiscard]] MPI_Datatype mpi_datatype(DatatypeKind kind);
/// The MPI operation of a Tutti operation, or MPI_OP_NULL.
[[nodiscard]] MPI_Op mpi_op(ReduceKind kind);

}  // namespace tutti::detail
