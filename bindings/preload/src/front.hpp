// SPDX-License-Identifier: BSD-3-Clause
// A library that is loaded before this one, such as a tool that measures waits, may hand calls of the program to the
// MPI's PMPI_ functions, past this one.
#pragma once

namespace tutti::preload {

/// Whether every function that completes nonblocking calls comes here, or takes their steps in the MPI. Local.
[[nodiscard]] bool ends_nonblocking();

/// Whether every function that starts persistent calls, completes them or lets them go on comes here. Local.
[[nodiscard]] bool ends_persistent();

/// Whether the MPI takes the steps of a generalized request itself, by MPIX_Grequest_start.
[[nodiscard]] bool mpi_takes_steps();

}  // namespace tutti::preload
