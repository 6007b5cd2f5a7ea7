// SPDX-License-Identifier: BSD-3-Clause
#include "call/late_communicator.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <tutti/environment.hpp>
#include <tutti/error.hpp>

#include "core/mpi_call.hpp"
#include "core/progress_hook.hpp"

namespace tutti::detail {

namespace {

std::atomic<int> alive{0};
std::atomic<int> others{0};

}  // namespace

int late_communicators() noexcept { return alive.load(); }

int private_communicators() noexcept { return alive.load() + others.load(); }

void count_private(int change) noexcept { others.fetch_add(change); }

void throw_no_communicator(const char* purpose, const std::string& reason) {
  throw Error(ErrorCode::mpi,
              fmt::format("the host MPI can make no communicator for {} ({}); it has few contexts (MPICH "
                          "2048 a process), so free communicators that are not used any more",
                          purpose, reason));
}

void LateCommunicator::begin(MPI_Comm parent) {
  const progress_hook::Pause pause;  // a step would want the same lock
  const std::lock_guard lock(mutex_);
  if (begun_) return;
  begun_ = true;
  const int code = MPI_Comm_idup(parent, &coming_, &request_);
  if (code != MPI_SUCCESS) failure_ = mpi_text(code);
}

bool LateCommunicator::finish() {
  const progress_hook::Pause pause;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock && test();
}

bool LateCommunicator::test() {
  if (get() != MPI_COMM_NULL) return true;
  if (failure_.empty()) {
    int done = 0;
    const int code = progress_hook::test(request_, done, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) {
      if (done != 0) {
        alive.fetch_add(1);
        made_.store(coming_, std::memory_order_release);
      }
      return done != 0;
    }
    failure_ = mpi_text(code);
  }
  throw_no_communicator(purpose_, failure_);
}

bool LateCommunicator::wait(std::chrono::nanoseconds timeout) {
  const auto begin = std::chrono::steady_clock::now();
  while (!ready()) {
    if (timeout.count() > 0 && std::chrono::steady_clock::now() - begin > timeout) return false;
    progress();
    sched_yield();
  }
  return true;
}

void LateCommunicator::settle() noexcept {
  try {
    if (begun_) wait();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): nothing was made
  }
}

void LateCommunicator::free() noexcept {
  MPI_Comm comm = made_.exchange(MPI_COMM_NULL);
  if (comm == MPI_COMM_NULL) return;
  alive.fetch_sub(1);
  MPI_Comm_free(&comm);
}

}  // namespace tutti::detail
