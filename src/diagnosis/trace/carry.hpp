// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

namespace tutti::detail::trace {

/// Carries a file from the disk of a rank to that of rank 0. Each names it by its own path. Rank 0 and `from` call it.
/// Blocking. A file that cannot be read or written whole is left out, with a line of text on its rank.
[[nodiscard]] std::string carry_file(MPI_Comm comm, int from, const std::string& path);

}  // namespace tutti::detail::trace
