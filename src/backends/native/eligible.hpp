// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "call/signature.hpp"

namespace tutti::detail {

/// Returns true if the host MPI's own collective has the same meaning as Tutti's. It differs for floating min and max
/// (NaN), 16- and 8-bit floats, avg, pre-multiplied sums, user operations, reproducible mode, persistent calls and
/// device memory.
[[nodiscard]] bool native_is_eligible(const Signature& signature);

/// The MPI datatype of a Tutti datatype, or MPI_DATATYPE_NULL for bytes(n), which is moved as n times MPI_BYTE.
[[nodiscard]] MPI_Datatype mpi_datatype(DatatypeKind kind);
[[nodiscard]] MPI_Op mpi_op(ReduceKind kind);

}  // namespace tutti::detail
