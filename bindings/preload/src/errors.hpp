// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

namespace tutti::preload {

/// The MPI's code of the exception in flight, with its text. Call inside a handler.
[[nodiscard]] int code_of_exception();

/// Gives an error to the communicator's error handler and returns its code; returns MPI_SUCCESS at once.
int raise(MPI_Comm comm, int code);

}  // namespace tutti::preload
