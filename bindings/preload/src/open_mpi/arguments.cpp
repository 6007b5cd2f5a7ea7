// SPDX-License-Identifier: BSD-3-Clause
#include "open_mpi/arguments.hpp"

#include <dlfcn.h>

#ifdef OPEN_MPI

namespace tutti::preload {

/// Asks the MPI, which knows its compiler, for the number of a logical value that is true here.
MPI_Fint Flag::truth() {
  static const MPI_Fint number = [] {
    MPI_Fint is_initialized = 1;
    MPI_Fint code = MPI_SUCCESS;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): a function by its name
    const auto ask = reinterpret_cast<void (*)(MPI_Fint*, MPI_Fint*)>(dlsym(RTLD_DEFAULT, "mpi_initialized_"));
    if (ask != nullptr) ask(&is_initialized, &code);
    return is_initialized;
  }();
  return number;
}

}  // namespace tutti::preload

#endif
