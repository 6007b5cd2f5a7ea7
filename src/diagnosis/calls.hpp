// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::detail::flight {

/// The calls that a recorder tells apart. The collectives are in the order of schedules::Operation.
enum class Call : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  reduce_scatter_block,
  reduce_scatter,
  scan,
  exscan,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  neighbor_allgather,
  neighbor_allgatherv,
  neighbor_alltoall,
  neighbor_alltoallv,
  neighbor_alltoallw,
  send,
  recv,
  sendrecv,
  probe,
  group,
  alltoallw,
  make_communicator,
  free_communicator,
  finalize,
};
inline constexpr int calls = static_cast<int>(Call::finalize) + 1;

[[nodiscard]] std::string_view call_name(Call call);
/// The collective of neighbours of that name; alltoallw if there is none.
[[nodiscard]] Call neighbor_call(std::string_view name);
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
