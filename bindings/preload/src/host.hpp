// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

/// Functions of MPI 4 that the host MPI has; Open MPI 5 has some of them and says that it is of MPI 3.1.
#define TUTTI_MPI_HAS_LARGE_COUNTS (MPI_VERSION >= 4)
#ifdef OPEN_MPI
#define TUTTI_MPI_HAS_PERSISTENT (OMPI_MAJOR_VERSION >= 5)
#else
#define TUTTI_MPI_HAS_PERSISTENT (MPI_VERSION >= 4)
#endif
#define TUTTI_MPI_HAS_SESSIONS TUTTI_MPI_HAS_PERSISTENT
