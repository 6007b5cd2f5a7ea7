// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

namespace tutti::detail {

/// Throws Error where an MPI function returned an error code; `what` names the function.
void check_mpi(int code, const char* what);

/// Waits for a request of the host MPI by testing and yielding. All outstanding operations progress meanwhile.
void wait_yielding(MPI_Request& request, const char* what);

/// Whether MPI is initialised and not yet finalised.
[[nodiscard]] bool mpi_is_usable() noexcept;

}  // namespace tutti::detail
