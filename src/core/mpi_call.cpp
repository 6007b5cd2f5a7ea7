// SPDX-License-Identifier: BSD-3-Clause
#include "core/mpi_call.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <atomic>
#include <tutti/environment.hpp>
#include <tutti/error.hpp>

namespace tutti::detail {

std::string mpi_text(int code) {
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  return text;
}

void check_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  int error_class = code;
  MPI_Error_class(code, &error_class);
  const ErrorCode kind = error_class == MPI_ERR_TRUNCATE ? ErrorCode::truncated : ErrorCode::mpi;
  throw Error(kind, fmt::format("{} failed: {}", what, mpi_text(code)));
}

void wait_yielding(MPI_Request& request, const char* what) {
  int done = 0;
  while (true) {
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
    if (done != 0) return;
    progress();
    sched_yield();
  }
}

namespace {

std::atomic<int> session_uses{0};

}  // namespace

SessionUse::SessionUse() noexcept { session_uses.fetch_add(1); }
SessionUse::~SessionUse() { session_uses.fetch_sub(1); }

bool mpi_is_usable() noexcept { return session_uses.load() > 0 || world_is_usable(); }

std::string error_prefix() {
  int rank = 0;
  if (!world_is_usable() || MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS) return {};
  return fmt::format("rank {} of MPI_COMM_WORLD: ", rank);
}

bool world_is_usable() noexcept {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

}  // namespace tutti::detail
