// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

namespace tutti::detail {

/// Makes a communicator of the same ranks that returns errors. Copies no attribute, and runs no error handler of
/// `comm` where the host MPI can make communicators of groups (MPI 4). `mark` is equal on all ranks, and another one
/// for each communicator that threads make at the same time. Throws Error(mpi) on all ranks if no context is left.
/// Collective; begins only when all ranks are there, because it blocks inside the host MPI.
[[nodiscard]] MPI_Comm make_private(MPI_Comm comm, std::uint64_t mark);

}  // namespace tutti::detail
