// SPDX-License-Identifier: BSD-3-Clause
// A library that is loaded before this one, such as a tool that measures waits, may hand calls of the program to the
// MPI's PMPI_ functions, past this one.
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <array>

#include "requests.hpp"

namespace tutti::preload {
namespace {

/// The only function of those that complete or test requests in which MPICH takes none of their steps.
constexpr const char* status_function = "MPI_Request_get_status";

constexpr std::array functions = {status_function,
                                  "MPI_Wait",
                                  "MPI_Waitall",
                                  "MPI_Waitany",
                                  "MPI_Waitsome",
                                  "MPI_Test",
                                  "MPI_Testall",
                                  "MPI_Testany",
                                  "MPI_Testsome",
                                  "MPI_Start",
                                  "MPI_Startall",
                                  "MPI_Recv",
                                  "MPI_Mrecv",
                                  "MPI_Send",
                                  "MPI_Rsend",
                                  "MPI_Bsend",
                                  "MPI_Ssend",
                                  "MPI_Sendrecv",
                                  "MPI_Sendrecv_replace",
                                  "MPI_Probe",
                                  "MPI_Mprobe",
                                  "MPI_Iprobe",
                                  "MPI_Improbe",
                                  "MPI_Request_free"};

/// The file that has the function of a name.
const void* file_of(const void* address) {
  Dl_info found{};
  return dladdr(address, &found) == 0 ? nullptr : found.dli_fbase;
}

bool is_first(const char* name) { return file_of(dlsym(RTLD_DEFAULT, name)) == file_of(&functions); }

bool is_first_in_all() {
  static const bool found = std::all_of(functions.begin(), functions.end(), is_first);
  return found;
}

}  // namespace

bool mpi_takes_steps() {
#ifdef MPICH_VERSION
  return PMPIX_Grequest_start != nullptr;
#else
  return false;
#endif
}

bool ends_nonblocking() { return is_first_in_all() || (mpi_takes_steps() && is_first(status_function)); }

bool ends_persistent() { return is_first_in_all(); }

}  // namespace tutti::preload
