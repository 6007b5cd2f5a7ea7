// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdio>
#include <string>

#include "launcher.hpp"

namespace tutti::command_line {

/// This process in MPI_COMM_WORLD. MPI must be initialised.
inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// Warns on standard error if the launcher belongs to another MPI. MPI must be initialised. Local.
inline void warn_of_launcher(const std::string& program) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(library, &length);
  const std::string whole(library, static_cast<std::size_t>(length));
  std::fputs(launcher_warning(program, size, whole.substr(0, whole.find('\n'))).c_str(), stderr);
}

}  // namespace tutti::command_line
