// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backends/shm/protocol.hpp"
#include "call/backend.hpp"
#include "operation/signature.hpp"

namespace tutti::detail::shm {

/// What a protocol needs of the machine.
struct Means {
  bool single_copy = false;         ///< all ranks reach each other's buffers
  bool goes_on_inside_mpi = false;  ///< a rank goes on inside the host MPI's calls
};

/// A protocol, as the planner and the backend see it.
struct ProtocolRow {
  Protocol protocol;
  std::string_view name;
  /// Returns true if it can make a call. One that must progress while a rank is away (nonblocking) needs all data
  /// published at its start, unless a rank goes on inside the host MPI.
  bool (*fits)(const Signature& signature, int size, const Means& means);
  /// Returns true if the segment holds all that a rank gives, so that it waits for no taker of the call.
  bool (*gives_at_once)(const Signature& signature, int size);
  /// The predicted time of a call among the ranks of one node, in seconds.
  double (*seconds)(const Signature& signature, const Machine& machine);
  Make make;  ///< of its plans
};

[[nodiscard]] const ProtocolRow& row_of(Protocol protocol);

}  // namespace tutti::detail::shm
