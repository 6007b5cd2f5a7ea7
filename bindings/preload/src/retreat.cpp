// SPDX-License-Identifier: BSD-3-Clause
#include "retreat.hpp"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <tutti/environment.hpp>
#include <tutti/error.hpp>
#include <utility>

#include "collectives/services.hpp"

namespace tutti::preload {
namespace {

namespace services = tutti::detail::services;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds longest_wait{10};
constexpr std::chrono::milliseconds shortest_wait{100};  // where the others may not have failed, and tell nothing

/// The messages between two ranks on the library's private communicator, which has no others.
enum Tag : int {
  failed = 1,  ///< the number of the call that has failed
  over = 2,    ///< of the last one that is over
};

/// A number that a rank tells, if it comes until then.
std::optional<std::uint64_t> told_by(int rank, Tag tag, MPI_Comm comm, Clock::time_point end) {
  int is_here = 0;
  for (;;) {
    PMPI_Iprobe(rank, tag, comm, &is_here, MPI_STATUS_IGNORE);
    if (is_here != 0) break;
    if (Clock::now() > end) return std::nullopt;
    progress();
    sched_yield();
  }
  std::uint64_t calls = 0;
  PMPI_Recv(&calls, 1, MPI_UINT64_T, rank, tag, comm, MPI_STATUS_IGNORE);
  return calls;
}

void tell(const Communicator& ours, Tag tag, std::uint64_t calls) {
  const auto told = std::make_shared<std::uint64_t>(calls);
  for (int r = 0; r < ours.size(); ++r) {
    if (r == ours.rank()) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    if (PMPI_Isend(told.get(), 1, MPI_UINT64_T, r, tag, services::private_mpi(ours), &request) == MPI_SUCCESS)
      PMPI_Request_free(&request);
  }
  tutti::detail::defer_free(told);
}

/// Whether another rank has failed in an earlier call.
bool is_ahead(const Communicator& ours, std::uint64_t call) {
  const auto end = Clock::now() + shortest_wait;
  for (int told = 1; told < ours.size(); ++told) {
    const auto other = told_by(MPI_ANY_SOURCE, failed, services::private_mpi(ours), end);
    if (!other) return false;
    if (*other < call) return true;
  }
  return false;
}

}  // namespace

Retreat::Retreat(const Communicator& ours, std::uint64_t calls, std::string text, bool may_repeat)
    : over_(calls), text_(std::move(text)) {
  tell(ours, failed, calls);
  const bool leaves_call = is_ahead(ours, calls) && may_repeat;
  if (leaves_call) --over_;
  tell(ours, over, over_);
  if (!leaves_call) return;
  last_ = greatest(ours, longest_wait);
  repeats_ = *last_ < calls;
}

void Retreat::settle(const Communicator& ours) {
  const MPI_Comm comm = services::private_mpi(ours);
  if (comm == MPI_COMM_NULL) return;
  if (!last_) last_ = greatest(ours, shortest_wait);
  while (told_by(MPI_ANY_SOURCE, failed, comm, {})) {
  }
}

void Retreat::pass(const Communicator& ours, std::uint64_t call) {
  if (!last_) last_ = greatest(ours, longest_wait);
  if (call <= *last_) throw Error(ErrorCode::mismatch, text_);
}

std::uint64_t Retreat::greatest(const Communicator& ours, std::chrono::milliseconds patience) const {
  const auto end = Clock::now() + patience;
  std::uint64_t most = over_;
  for (int r = 0; r < ours.size(); ++r) {
    if (r == ours.rank()) continue;
    const auto calls = told_by(r, over, services::private_mpi(ours), end);
    most = std::max(most, calls.value_or(never));
  }
  return most;
}

}  // namespace tutti::preload
