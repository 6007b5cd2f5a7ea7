// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

namespace tutti::tools {

/// A slice of a trace, or a rank of it. Seconds.
struct TraceSlice {
  enum class Kind : std::uint8_t { rank, call, start, wait, range };
  Kind kind = Kind::call;
  int rank = 0;
  std::string name{};
  double begin = 0;
  double length = 0;
  std::string path{};
  std::string communicator{};
  std::uint64_t bytes = 0;
  std::uint64_t sequence = 0;  ///< 0: no collective
  bool receives = false;
  double waited = 0;
  int waited_for = -1;     ///< -1: nobody
  bool ended = true;       ///< the rank has called MPI_Finalize
  std::uint64_t lost = 0;  ///< records of the rank for which there was no room
};

/// Reads the slices of a trace, one by one. Throws Error(io) for a file that is none. name: for messages.
void read_trace(std::istream& file, const std::string& name, const std::function<void(const TraceSlice&)>& take);

}  // namespace tutti::tools
