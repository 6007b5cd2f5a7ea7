// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

namespace tutti::detail {

/// Throws Error where an MPI function returned an error code; `what` names the function.
void check_mpi(int code, const char* what);

/// Waits for a request of the host MPI by testing and yielding; all outstanding operations go on meanwhile.
void wait_yielding(MPI_Request& request, const char* what);

/// Whether MPI can be called now.
[[nodiscard]] bool mpi_is_usable() noexcept;

}  // namespace tutti::detail
