// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <tutti/error.hpp>

namespace tutti::preload {

/// The MPI's code of the exception in flight. Call inside a handler.
[[nodiscard]] int code_of_exception();

/// The same of an error of a check.
[[nodiscard]] int code_of(ErrorCode code, const std::string& text);

/// Gives an error to the communicator's error handler and returns its code; returns MPI_SUCCESS at once. Prints the
/// text if the handler is about to end the program.
int raise(MPI_Comm comm, int code);

}  // namespace tutti::preload
