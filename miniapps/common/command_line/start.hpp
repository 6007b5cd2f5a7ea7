// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>

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

/// Prints the error of one rank and ends the program on all. The launcher may end all processes before it has passed on
/// their last words, so it gets time for these.
inline void abort_all(const std::string& program, int rank, const std::exception& error) {
  std::fprintf(stderr, "%s: rank %d: %s\n", program.c_str(), rank, error.what());
  std::fflush(nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

}  // namespace tutti::command_line
