// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>

#include "point.hpp"

namespace tutti::commbench {

/// A datatype of the host MPI, and how many of it make one element.
struct MpiType {
  MPI_Datatype type = MPI_BYTE;
  std::size_t units = 1;
};

/// For moving data: MPI's own type, or bytes where it has none.
[[nodiscard]] MpiType mpi_type_to_move(Datatype type);

/// For reductions; throws NotApplicable where MPI has no such type or operation.
[[nodiscard]] MPI_Datatype mpi_type_to_reduce(Datatype type);

/// Throws NotApplicable where MPI has no such operation. The one for user functions is a bitwise exclusive or of bytes.
[[nodiscard]] MPI_Op mpi_operation(ReduceKind kind);

}  // namespace tutti::commbench
