// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <span>

#include "core/process_watch.hpp"

namespace tutti::detail {

/// The connections out of band that the ranks of a new communicator want, equal on all of them.
struct OutOfBand {
  bool heartbeat = false;  ///< ranks that do not see one another's end watch one another
  bool hosts = false;      ///< some rank's watchdog asks other hosts
};

/// Lets processes of several hosts, or of several PID namespaces of one, meet out of band; others need not. Collective,
/// blocking. Returns true if the end of each rank is told to all others.
[[nodiscard]] bool meet_out_of_band(MPI_Comm from, int rank, std::span<const ProcessIdentity> all,
                                    const OutOfBand& wanted);

}  // namespace tutti::detail
