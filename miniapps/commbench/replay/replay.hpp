// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "settings.hpp"

namespace CLI {
class App;
}

namespace tutti::commbench::replay {

/// What a rank does between two calls of a trace.
enum class Gaps : std::uint8_t {
  compute,  ///< computes for the recorded time
  sleep,    ///< leaves the core to others for that time
  drop,     ///< nothing
};

[[nodiscard]] constexpr const char* gaps_name(Gaps gaps) {
  return gaps == Gaps::compute ? "compute" : gaps == Gaps::sleep ? "sleep" : "drop";
}

/// How a trace is replayed. Equal on all ranks.
struct ReplaySettings {
  std::vector<std::string> files{};
  Gaps gaps = Gaps::compute;
  int repeats = 3;
  Check check = Check::sample;
  MemorySpace memory = MemorySpace::host;
  std::string algorithm{};  ///< as in tutti::Options; empty: Tutti's choice
  bool shrinks = false;
  std::size_t buffer_bytes = std::size_t{1} << 30U;  ///< of a rank, beyond which idle buffers are freed
  std::string json_file{};
};

/// Adds the subcommand to the command line of the program.
CLI::App* add_replay(CLI::App& app, ReplaySettings& settings);

/// Replays a trace and prints the comparison on rank 0. Returns the exit code: 1 if a result was wrong. Throws
/// std::invalid_argument, alike on all ranks, for a trace that cannot be replayed. Collective.
int run_replay(const Communicator& comm, const ReplaySettings& settings);

}  // namespace tutti::commbench::replay
