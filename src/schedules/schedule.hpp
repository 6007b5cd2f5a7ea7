// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "operation/operation.hpp"

namespace tutti::schedules {

/// The named buffers of a schedule. `input` is only read; `output` and `scratch` start unwritten.
enum class BufferName : std::uint8_t { input, output, scratch };

/// count elements from element `offset` of a buffer. The unit is one element of the operation's datatype.
struct Slice {
  BufferName buffer = BufferName::input;
  std::size_t offset = 0;
  std::size_t count = 0;
  friend bool operator==(const Slice&, const Slice&) = default;
};

/// A message. Messages between one pair of ranks match in the order in which they stand in the two schedules.
/// Transfers of zero elements are left out on both sides, except in a barrier, where an empty message is the signal.
struct Transfer {
  enum class Kind : std::uint8_t { send, recv };
  Kind kind = Kind::send;
  int peer = 0;
  Slice slice{};
};

/// Work on this rank's buffers: a copy, or output = inputs[0] op inputs[1] op … op inputs[n-1] in that order (the order
/// of ranks where the operation does not commute), rounded once. The output may be equal to one of the inputs.
struct Local {
  enum class Kind : std::uint8_t { copy, reduce };
  Kind kind = Kind::copy;
  std::vector<Slice> inputs;
  Slice output{};
};

/// A collective among the ranks of this rank's node, in rank order, by the memory that they share: one step, whose
/// contract is the operation's. All ranks of a node have the same exchanges in the same order. Counts are as in
/// Problem; `count` is also the sum of all counts of reduce_scatter and allgatherv. Displacements count from the start
/// of a slice. An output that holds the rank's own data already is in place.
struct Exchange {
  Operation operation = Operation::barrier;
  int root = 0;  ///< its place among the ranks of the node
  std::size_t count = 0;
  std::size_t send_count = 0;
  std::size_t recv_count = 0;
  std::vector<std::size_t> send_counts{};
  std::vector<std::size_t> send_displs{};
  std::vector<std::size_t> recv_counts{};
  std::vector<std::size_t> recv_displs{};
  Slice input{};
  Slice output{};
};

/// All transfers of a round are posted together, and its exchange runs beside them. When all are done, the local steps
/// run in order, then the next round begins. A round without transfers and exchange is local work only.
struct Round {
  std::vector<Transfer> transfers;
  std::vector<Local> locals;
  std::optional<Exchange> exchange{};
};

/// One rank's steps in one collective: plain data.
struct Schedule {
  std::vector<Round> rounds;
  std::size_t scratch_count = 0;  ///< elements of the scratch buffer
  /// Whether the schedule also works if `input` and `output` are one buffer in the sense of MPI_IN_PLACE. If not, the
  /// executor works from a copy of the input.
  bool alias_safe = false;
};

}  // namespace tutti::schedules
