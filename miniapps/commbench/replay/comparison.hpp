// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <tutti/communicator.hpp>
#include <vector>

#include "replay/player.hpp"
#include "replay/recording.hpp"

namespace tutti::commbench::replay {

/// Calls of a kind: of one name, datatype, operation, number of ranks and size class.
struct Row {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::uint64_t timed = 0;  ///< calls of which the trace tells how long they held the program
  double recorded = 0;      ///< seconds of these
  double replayed = 0;      ///< seconds of the same calls, or of all if none is timed
  double recorded_p50 = 0;  ///< the mean over ranks of the medians, weighted by the calls
  double replayed_p50 = 0;
};

/// Name, datatype, operation, ranks, the power of 2 that the bytes of a call do not exceed.
using RowKey = std::tuple<std::string, std::string, std::string, std::size_t, std::uint64_t>;

/// What one rank, or all together, recorded and replayed.
struct Total {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  double recorded = 0;  ///< seconds in calls and in waits for them
  double replayed = 0;
  double recorded_length = 0;  ///< seconds of the whole trace; 0: it does not tell
  double replayed_length = 0;
};

/// The recorded times beside the replayed ones, of all ranks. The same on all ranks.
struct Comparison {
  std::string format{};
  std::map<RowKey, Row> rows{};
  std::vector<Total> ranks{};
  std::map<std::string, std::uint64_t> left_out{};
  std::uint64_t checked = 0;
  std::uint64_t wrong = 0;
  std::string fault{};
};

/// Collective.
[[nodiscard]] Comparison compare(const Communicator& comm, const Recording& recording, const Played& played);

/// The table, and what all ranks took together.
[[nodiscard]] std::string comparison_text(const Comparison& comparison);

/// Writes it with settings and machine. Throws tutti::Error (io) that names the file. One rank calls it.
void write_comparison(const std::string& path, const ReplaySettings& settings, const Communicator& comm,
                      const Comparison& comparison);

}  // namespace tutti::commbench::replay
