// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

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

// The calls that each protocol can make, from shared facts alone.

/// The size of the data that the rank with most data publishes in a call, in bytes; 0 if the signature does not
/// determine it.
[[nodiscard]] std::size_t published_bytes(const Signature& signature, int size);

/// A call that goes on alone progresses while a rank is away, so all data are published at its start.
[[nodiscard]] bool fits_lines(const Signature& signature, int size);
[[nodiscard]] bool fits_slots(const Signature& signature, int size, bool goes_on_alone);
[[nodiscard]] bool fits_parts(const Signature& signature, int size);
[[nodiscard]] bool fits_tree(const Signature& signature, bool goes_on_alone);
[[nodiscard]] bool fits_ring(const Signature& signature, int size);
/// Returns true if a near ring holds all that a rank gives.
[[nodiscard]] bool is_held_by_ring(const Signature& signature, int size);

}  // namespace tutti::detail::shm
