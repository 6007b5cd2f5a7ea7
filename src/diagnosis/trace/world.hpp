// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>

namespace tutti::detail::trace {

/// Whether this process is traced and has met no others yet.
[[nodiscard]] bool wants_to_meet() noexcept;

/// Lets all ranks of MPI_COMM_WORLD meet, which are all traced: they agree on the job's number, and measure the offsets
/// between their machines' clocks. Takes the communicator, which nobody else uses. Collective over it; blocking.
void meet(MPI_Comm comm, std::uint64_t job);

/// Ends the trace of this process. If the ranks have met, rank 0 then merges their parts into one file. Collective over
/// the ranks that have met; blocking. others_live: false if a rank has died, for which nobody then waits.
void leave(bool others_live) noexcept;

}  // namespace tutti::detail::trace
