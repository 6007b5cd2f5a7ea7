// SPDX-License-Identifier: BSD-3-Clause
#include "core/mpi_call.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <tutti/environment.hpp>
#include <tutti/error.hpp>

namespace tutti::detail {

void check_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  int error_class = code;
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  MPI_Error_class(code, &error_class);
  MPI_Error_string(code, text, &length);
  const ErrorCode kind = error_class == MPI_ERR_TRUNCATE ? ErrorCode::truncated : ErrorCode::mpi;
  throw Error(kind, fmt::format("{} failed: {}", what, text));
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

bool mpi_is_usable() noexcept {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

}  // namespace tutti::detail
