// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "call/signature.hpp"

namespace tutti::detail {

/// Whether the host MPI's own collective means the same as Tutti's: not for floating min and max (NaN), 16- and 8-bit
/// floats, avg, pre-multiplied sums, user operations, the reproducible mode, persistent calls and device memory.
[[nodiscard]] bool native_is_eligible(const Signature& signature);

/// The MPI datatype of a Tutti datatype, or MPI_DATATYPE_NULL. bytes(n) has none: it is moved as n times MPI_BYTE.
[[nodiscard]] MPI_Datatype mpi_datatype(DatatypeKind kind);
[[nodiscard]] MPI_Op mpi_op(ReduceKind kind);

}  // namespace tutti::detail
