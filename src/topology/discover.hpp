// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <tutti/topology.hpp>

namespace tutti::detail {

/// Finds out where the ranks run. Collective over `comm`, a private communicator.
[[nodiscard]] Topology discover_topology(MPI_Comm comm);

/// The topology of a part of a communicator. Local.
[[nodiscard]] Topology restrict_topology(const Topology& whole, MPI_Comm parent, MPI_Comm child);

}  // namespace tutti::detail
