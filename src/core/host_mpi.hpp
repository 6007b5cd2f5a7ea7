// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

/// Facts of the host MPI that decide how it may be called. They are known to the compiler, but not with the ABI of MPI
/// 5: there one file serves several MPIs, and the library that the program has loaded decides.
namespace tutti::detail {

#ifdef MPI_ABI_VERSION

[[nodiscard]] bool host_is_open_mpi();
/// MPICH, or an MPI derived from it.
[[nodiscard]] bool host_is_mpich();
/// Whether it has MPI 4's functions with large counts, whose names end with _c.
[[nodiscard]] bool host_has_large_counts();

#else

#ifdef OPEN_MPI
constexpr bool host_is_open_mpi() { return true; }
#else
constexpr bool host_is_open_mpi() { return false; }
#endif
#ifdef MPICH_VERSION
constexpr bool host_is_mpich() { return true; }
#else
constexpr bool host_is_mpich() { return false; }
#endif
constexpr bool host_has_large_counts() { return MPI_VERSION >= 4; }

#endif

}  // namespace tutti::detail
