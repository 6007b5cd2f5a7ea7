// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>

#include "call/neighborhood.hpp"

namespace tutti::detail {

/// The neighbours of this rank in the topology of an MPI communicator; null if it has none. Local.
[[nodiscard]] std::unique_ptr<const Neighbors> read_neighbors(MPI_Comm comm, int rank);

}  // namespace tutti::detail
