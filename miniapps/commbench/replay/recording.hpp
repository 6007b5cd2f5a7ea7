// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tutti/datatype.hpp>
#include <tutti/operation.hpp>
#include <tutti/reduce_op.hpp>
#include <vector>

#include "point.hpp"

/// The calls of a trace, as one rank made them, whatever wrote the trace.
namespace tutti::commbench::replay {

/// A message of a call; its peer is a rank of the call's communicator.
struct Message {
  bool is_recv = false;
  int peer = 0;
  int tag = 0;
  std::size_t bytes = 0;
};

/// What a call moves on this rank, in elements.
struct Exchange {
  std::optional<Operation> operation{};  ///< none: messages
  Datatype type{DatatypeKind::uint8};
  std::optional<ReduceKind> op{};
  int root = 0;
  std::size_t count = 0;                   ///< of the vector, or of one block
  std::vector<std::size_t> send_counts{};  ///< of a call with counts: one for each rank
  std::vector<std::size_t> recv_counts{};
  std::vector<Message> messages{};

  [[nodiscard]] bool has_counts() const { return operation && traits_of(*operation).has_counts(); }
};

/// The ranks of a communicator.
struct Group {
  std::string id{};  ///< equal on its ranks, and no other's
  std::string name{};
  std::vector<int> world_ranks{};  ///< -1: of a rank that left no part of the trace
  friend auto operator<=>(const Group&, const Group&) = default;
};

struct RecordedCall {
  Exchange exchange{};
  std::size_t group = 0;  ///< of Recording::groups
  Mode mode = Mode::blocking;
  std::size_t made = 0;  ///< of a persistent call: the one of Recording::made that it starts
};

/// Something that the rank did. Seconds since the trace began.
struct Step {
  enum class Kind : std::uint8_t { run, start, wait };
  Kind kind = Kind::run;
  std::size_t call = 0;
  double begin = 0;
  std::optional<double> length{};  ///< that the program was held; none: the trace does not tell
};

/// A trace as one rank needs it.
struct Recording {
  std::string format{};
  int ranks = 0;  ///< of the recorded job; 0: the trace does not tell
  std::vector<Group> groups{};
  std::vector<RecordedCall> calls{};
  std::vector<RecordedCall> made{};                 ///< persistent calls, in the order in which they were made
  std::vector<Step> steps{};                        ///< in the order of time
  bool has_times = false;                           ///< of the steps
  double length = 0;                                ///< seconds from this rank's first step to the end of its last
  std::map<std::string, std::uint64_t> left_out{};  ///< calls that are not replayed, by name
};

/// Reads what `rank` of `ranks` did. paths: one file of all ranks, or one that all ranks take as their own, or one file
/// a rank, or a folder of these. The format shows in the content. Throws std::invalid_argument with file, line, field
/// and remedy. Local; reads a file piece by piece and keeps the calls of this rank only.
[[nodiscard]] Recording read_recording(const std::vector<std::string>& paths, int rank, int ranks);

/// Leaves the first `ranks` ranks of the recorded job: communicators lose the others, calls with counts their blocks,
/// messages to and from them are left out, and a root that is gone is replaced. Local.
void shrink(Recording& recording, int rank, int ranks);

}  // namespace tutti::commbench::replay
