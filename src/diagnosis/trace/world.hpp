// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>

#include "diagnosis/trace/record.hpp"

namespace tutti::detail::trace {

/// Whether this process is traced and has met no others yet.
[[nodiscard]] bool wants_to_meet() noexcept;

/// Lets all ranks of MPI_COMM_WORLD meet, which are all traced: they agree on the job's number, and measure the offsets
/// between their machines' clocks. Takes the communicator, which nobody else uses. Collective over it; blocking.
void meet(MPI_Comm comm, std::uint64_t job);

/// Ends the trace of this process. If the ranks have met, rank 0 then merges their parts into one file. Collective over
/// the ranks that have met; blocking. others_live: false if a rank has died, for which nobody then waits.
void leave(bool others_live) noexcept;

/// The first rank of each machine other than that of rank 0.
[[nodiscard]] bool is_first_of_machine(std::span<const std::uint64_t> machines, int rank);

/// Measures what rank 0's clock shows at a moment of this one: by messages to and fro, of which the shortest round trip
/// counts (Cristian's algorithm). Rank 0 and `other` call it. Blocking. The result is that of `other`.
[[nodiscard]] OffsetRecord measure_offset(MPI_Comm comm, int other);

/// Carries a file from the disk of a rank to that of rank 0. Each names it by its own path. Rank 0 and `from` call it.
/// Blocking. A file that cannot be read or written whole is left out, with a line of text on its rank.
[[nodiscard]] std::string carry_file(MPI_Comm comm, int from, const std::string& path);

}  // namespace tutti::detail::trace
