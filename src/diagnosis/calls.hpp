// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <tutti/operation.hpp>

namespace tutti::detail::flight {

/// The calls that are told apart. The collectives come first, in the order of Operation, then those of neighbours.
enum class Call : std::uint8_t {
#define TUTTI_CALL(name, ...) name,
  TUTTI_OPERATIONS(TUTTI_CALL) TUTTI_NEIGHBOR_OPERATIONS(TUTTI_CALL)
#undef TUTTI_CALL
      send,
  recv,
  sendrecv,
  probe,
  group,
  alltoallw,
  make_communicator,
  free_communicator,
  finalize,
  split,
  allocate,
  prepare_device,
};
inline constexpr int calls = static_cast<int>(Call::prepare_device) + 1;

[[nodiscard]] constexpr Call call_of(Operation operation) { return static_cast<Call>(operation); }
/// Whether a call is one of the collectives that have an Operation.
[[nodiscard]] constexpr bool is_operation(Call call) { return call < Call::neighbor_allgather; }
[[nodiscard]] std::string_view call_name(Call call);
/// Calls that all ranks of a communicator make in the same order.
[[nodiscard]] constexpr bool is_neighborhood(Call call) {
  return call >= Call::neighbor_allgather && call <= Call::neighbor_alltoallw;
}
[[nodiscard]] constexpr bool is_collective(Call call) { return call < Call::send || call >= Call::alltoallw; }
/// Collectives that have no data.
[[nodiscard]] constexpr bool is_synchronization(Call call) {
  return call == Call::barrier || call >= Call::make_communicator;
}

enum class Form : std::uint8_t { blocking, nonblocking, init, start };
[[nodiscard]] std::string_view form_name(Form form);

/// How far a call is on its rank.
enum class State : std::uint8_t {
  none,
  running,      ///< the program is inside a blocking call
  outstanding,  ///< started, and the program does something else
  waiting,      ///< the program waits for its request
  done,
  failed,
};
[[nodiscard]] std::string_view state_name(State state);
[[nodiscard]] constexpr bool is_over(State state) { return state == State::done || state == State::failed; }
/// Returns true while the program can do nothing but wait for the call.
[[nodiscard]] constexpr bool holds(State state) { return state == State::running || state == State::waiting; }

}  // namespace tutti::detail::flight
