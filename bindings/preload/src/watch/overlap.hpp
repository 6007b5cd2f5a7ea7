// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "watch/description.hpp"

namespace tutti::preload {

/// Under TUTTI_CHECK, before a call: the MPI's code of an error, which the communicator's error handler has had, if the
/// call writes memory that a call which has not ended uses, or reads memory which such a call writes. Local.
[[nodiscard]] int check_overlap(MPI_Comm comm, const Spans& sent, const Spans& received);

/// The same before persistent calls are started, which are recorded as started, while calls are watched.
[[nodiscard]] int start_watched(int count, const MPI_Request* requests);

}  // namespace tutti::preload
