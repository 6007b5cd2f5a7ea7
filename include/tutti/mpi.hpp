// SPDX-License-Identifier: BSD-3-Clause
// For programs that go from MPI to Tutti: the datatypes and operations behind MPI's handles. docs/mpi.md has the whole
// table.
#pragma once

#include <tutti/mpi_header.h>

#include <tutti/datatype.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/reduce_op.hpp>

namespace tutti {

/// The datatype of a predefined MPI datatype of C, C++ or Fortran: MPI_DOUBLE gives float64, MPI_C_BOOL and MPI_LOGICAL
/// a logical of their size, MPI_2INT a pair. A derived type whose bytes lie without gaps from its address on gives
/// Datatype::bytes(n), for moving data. Local; MPI must be running.
/// Errors: ErrorCode::invalid_datatype for a type without counterpart, such as long double, short-int pairs and derived
/// types with gaps, and for MPI_DATATYPE_NULL.
[[nodiscard]] TUTTI_EXPORT Datatype datatype_from(MPI_Datatype type);

/// The operation of a predefined MPI operation. Local. Errors: ErrorCode::invalid_op for MPI_REPLACE, MPI_NO_OP,
/// MPI_OP_NULL and an operation of MPI_Op_create, whose function MPI does not tell: pass it to ReduceOp::user().
[[nodiscard]] TUTTI_EXPORT ReduceOp reduce_op_from(MPI_Op op);

}  // namespace tutti
