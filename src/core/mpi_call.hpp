// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

namespace tutti::detail {

/// Throws Error where an MPI function returned an error code; `what` names the function.
void check_mpi(int code, const char* what);

/// The host MPI's text for an error code.
[[nodiscard]] std::string mpi_text(int code);

/// Waits for a request of the host MPI by testing and yielding. All outstanding operations progress meanwhile.
void wait_yielding(MPI_Request& request, const char* what);

/// Whether MPI_Init was called, and not yet MPI_Finalize.
[[nodiscard]] bool world_is_usable() noexcept;
/// Whether MPI can be called: after MPI_Init, or while communicators of a session are in use.
[[nodiscard]] bool mpi_is_usable() noexcept;
/// Begins the message of an error that concerns no communicator: "rank 1 of MPI_COMM_WORLD: ". Empty while MPI_Init was
/// not called.
[[nodiscard]] std::string error_prefix();

/// One communicator of a session (MPI 4), which nobody but its owner knows of.
class SessionUse {
 public:
  SessionUse() noexcept;
  ~SessionUse();
  SessionUse(const SessionUse&) = delete;
  SessionUse& operator=(const SessionUse&) = delete;
};

}  // namespace tutti::detail
