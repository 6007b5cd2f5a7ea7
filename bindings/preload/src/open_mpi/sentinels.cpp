// SPDX-License-Identifier: BSD-3-Clause
#include "open_mpi/arguments.hpp"

#include <mpi.h>

#ifdef OPEN_MPI

/// Compilers name one variable in four ways, of which an Open MPI has some, and none where it was built without
/// Fortran.
#define TUTTI_MPI_NAMES(APPLY)                                                     \
  APPLY(in_place, mpi_fortran_in_place, MPI_FORTRAN_IN_PLACE)                      \
  APPLY(bottom, mpi_fortran_bottom, MPI_FORTRAN_BOTTOM)                            \
  APPLY(status_ignore, mpi_fortran_status_ignore, MPI_FORTRAN_STATUS_IGNORE)       \
  APPLY(statuses_ignore, mpi_fortran_statuses_ignore, MPI_FORTRAN_STATUSES_IGNORE) \
  APPLY(unweighted, mpi_fortran_unweighted, MPI_FORTRAN_UNWEIGHTED)                \
  APPLY(weights_empty, mpi_fortran_weights_empty, MPI_FORTRAN_WEIGHTS_EMPTY)

extern "C" {
#define TUTTI_MPI_DECLARE(value, lower, upper) \
  extern int lower __attribute__((weak));      \
  extern int lower##_ __attribute__((weak));   \
  extern int lower##__ __attribute__((weak));  \
  extern int upper __attribute__((weak));
TUTTI_MPI_NAMES(TUTTI_MPI_DECLARE)
}

namespace tutti::preload {

bool is(Sentinel sentinel, const void* address) {
  if (address == nullptr) return false;
#define TUTTI_MPI_COMPARE(value, lower, upper) \
  case Sentinel::value:                        \
    return address == &lower || address == &lower##_ || address == &lower##__ || address == &upper;
  switch (sentinel) { TUTTI_MPI_NAMES(TUTTI_MPI_COMPARE) }
  return false;
}

}  // namespace tutti::preload

#endif
