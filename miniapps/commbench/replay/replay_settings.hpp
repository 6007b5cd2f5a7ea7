// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "settings.hpp"

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

}  // namespace tutti::commbench::replay
