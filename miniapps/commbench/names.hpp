// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <tutti/communicator.hpp>
#include <tutti/options.hpp>
#include <vector>

#include "point.hpp"
#include "settings.hpp"
#include "shape.hpp"

namespace tutti::commbench {

/// The names that may be written for each kind of thing, in order.
[[nodiscard]] std::vector<std::string> operation_names();
[[nodiscard]] std::vector<std::string> traffic_names();
[[nodiscard]] std::vector<std::string> type_names();
[[nodiscard]] std::vector<std::string> op_names();

/// What a list of names stands for, each once; "all" is all of them. Throws std::invalid_argument that names the
/// option, the wrong name and the right ones.
[[nodiscard]] std::vector<Operation> parse_operations(const std::vector<std::string>& names);
/// The messages among the names of operations; "all" has none.
[[nodiscard]] std::vector<Traffic> parse_traffic(const std::vector<std::string>& names);
[[nodiscard]] std::vector<Datatype> parse_types(const std::vector<std::string>& names);
[[nodiscard]] std::vector<ReduceKind> parse_ops(const std::vector<std::string>& names);
[[nodiscard]] std::vector<MemorySpace> parse_memory(const std::vector<std::string>& names);
[[nodiscard]] std::vector<Mode> parse_modes(const std::vector<std::string>& names);

/// The ways in which Tutti can make a call here, the one that it chooses by itself first: "shm:slots", "mpi:ring".
/// Local.
[[nodiscard]] std::vector<std::string> algorithm_names(const Communicator& comm, const Point& point, const Shape& shape,
                                                       int root, Accumulation accumulation);

/// All names that an operation has in a kind of memory, whatever the call. Local.
[[nodiscard]] std::vector<std::string> all_algorithm_names(const Communicator& comm, Operation operation,
                                                           MemorySpace memory);

}  // namespace tutti::commbench
