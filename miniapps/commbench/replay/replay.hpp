// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/communicator.hpp>

#include "replay/replay_settings.hpp"

namespace CLI {
class App;
}

namespace tutti::commbench::replay {

/// Adds the subcommand to the command line of the program.
CLI::App* add_replay(CLI::App& app, ReplaySettings& settings);

/// Replays a trace and prints the comparison on rank 0. Returns the exit code: 1 if a result was wrong. Throws
/// std::invalid_argument, alike on all ranks, for a trace that cannot be replayed. Collective.
int run_replay(const Communicator& comm, const ReplaySettings& settings);

}  // namespace tutti::commbench::replay
