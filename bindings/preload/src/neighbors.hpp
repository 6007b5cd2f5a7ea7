// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

namespace tutti::preload {

/// Which neighbours of a rank exist, in MPI's order: at the border of a grid there are some that do not.
struct Neighbors {
  std::vector<bool> sources{};
  std::vector<bool> destinations{};
};

/// Nothing where a communicator has no topology. Local.
[[nodiscard]] std::optional<Neighbors> neighbors_of(MPI_Comm comm, int rank);

}  // namespace tutti::preload
