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
constexpr std::chrono::milliseconds last_wait{100};  // the others may not have failed, and tell nothing

/// Of the only messages between two ranks on the library's private communicator.
constexpr int tag = 1;

/// The number that a rank tells, if it comes until then.
std::optional<std::uint64_t> told_by(int rank, MPI_Comm comm, Clock::time_point end) {
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

}  // namespace

Retreat::Retreat(const Communicator& ours, std::uint64_t calls, std::string text)
    : own_(calls), text_(std::move(text)) {
  const auto told = std::make_shared<std::uint64_t>(calls);
  for (int r = 0; r < ours.size(); ++r) {
    if (r == ours.rank()) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    if (PMPI_Isend(told.get(), 1, MPI_UINT64_T, r, tag, services::private_mpi(ours), &request) == MPI_SUCCESS)
      PMPI_Request_free(&request);
  }
  tutti::detail::defer_free(told);
}

void Retreat::settle(const Communicator& ours) {
  if (!last_ && services::private_mpi(ours) != MPI_COMM_NULL) last_ = greatest(ours, last_wait);
}

void Retreat::pass(const Communicator& ours, std::uint64_t call) {
  if (!last_) last_ = greatest(ours, longest_wait);
  if (call <= *last_) throw Error(ErrorCode::mismatch, text_);
}

std::uint64_t Retreat::greatest(const Communicator& ours, std::chrono::milliseconds patience) const {
  const auto end = Clock::now() + patience;
  std::uint64_t most = own_;
  for (int r = 0; r < ours.size(); ++r) {
    if (r == ours.rank()) continue;
    const auto calls = told_by(r, services::private_mpi(ours), end);
    most = std::max(most, calls.value_or(never));
  }
  return most;
}

}  // namespace tutti::preload
