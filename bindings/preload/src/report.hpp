// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "diagnosis/calls.hpp"

namespace tutti::preload {

/// The collectives of MPI, in all their forms, among the calls that are told apart.
using Collective = tutti::detail::flight::Call;
inline constexpr std::size_t collectives = tutti::detail::flight::calls;

/// Why a call is passed on to the MPI; `none` if it is not. Equal on all ranks of a legal call.
enum class Reason : std::uint8_t {
  none,
  off,
  one_rank,
  intercommunicator,
  arguments,
  before_set_up,
  reduction,
  room,
  set_up,
  disagreement,
  progress,
  tool,
};
inline constexpr std::size_t reasons = 12;

/// Counts a call, if TUTTI_MPI_REPORT asks for it.
void count(Collective which, Reason reason);

/// Prints the counts of all ranks, on rank 0 of MPI_COMM_WORLD to stderr. Collective over it; before MPI_Finalize.
void print_report();

}  // namespace tutti::preload

/// The calls of this process that went through Tutti and those that were passed on, counted if TUTTI_MPI_REPORT=1. For
/// programs that look it up with dlsym. Local; any thread may call it.
extern "C" void tutti_mpi_calls(unsigned long long* through, unsigned long long* passed);
