// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <span>
#include <tutti/topology.hpp>

#include "topology/place.hpp"

namespace tutti::detail {

/// The ranks of a node, or of a machine, and the processing units that they may use together.
struct UnitUse {
  std::uint64_t kernel = 0;  ///< as kernel_number()
  int ranks = 0;
  LocalPlace::Units units{};
};

/// Whether a machine has more ranks than processing units: nodes that one kernel runs, kept apart by an MPI or as
/// containers, share them.
[[nodiscard]] bool is_oversubscribed(std::span<const UnitUse> nodes);

/// Tests clear it, so that ranks on emulated nodes wait as those on nodes of a cluster do.
inline bool looks_at_kernels = true;

/// Finds out where the ranks run. Collective over `comm`, a private communicator.
[[nodiscard]] Topology discover_topology(MPI_Comm comm);

/// The topology of a part of a communicator. Local.
[[nodiscard]] Topology restrict_topology(const Topology& whole, MPI_Comm parent, MPI_Comm child);

}  // namespace tutti::detail
