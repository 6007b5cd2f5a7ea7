// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diagnosis/snapshot.hpp"

namespace tutti::detail::flight {

/// The recorders of one job, by their rank in MPI_COMM_WORLD.
using Job = std::vector<Snapshot>;

/// The recorders that processes of this user on this host hold, their own and those of others that have ended.
[[nodiscard]] std::vector<Snapshot> find_recorders();
/// The recorders in a folder, or in one file. problems: a line for each file that is none.
[[nodiscard]] std::vector<Snapshot> read_recorders(const std::string& path, std::vector<std::string>& problems);

/// Puts recorders of processes together that have met: that have a communicator or a first communicator in common.
[[nodiscard]] std::vector<Job> jobs_of(std::vector<Snapshot> snapshots);

}  // namespace tutti::detail::flight
