// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/communicator.hpp>
#include <tutti/options.hpp>
#include <vector>

#include "point.hpp"
#include "shape.hpp"

namespace tutti::commbench {

/// The ways in which Tutti can make a call here, the one that it chooses by itself first: "shm:slots", "mpi:ring".
/// Local.
[[nodiscard]] std::vector<std::string> algorithm_names(const Communicator& comm, const Point& point, const Shape& shape,
                                                       int root, Accumulation accumulation);

/// All names that an operation has in a kind of memory, whatever the call. Local.
[[nodiscard]] std::vector<std::string> all_algorithm_names(const Communicator& comm, Operation operation,
                                                           MemorySpace memory);

}  // namespace tutti::commbench
