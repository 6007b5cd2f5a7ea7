// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <exception>
#include <tutti/environment.hpp>

#include "command_line/start.hpp"

namespace tutti::miniapps {

/// Starts MPI, calls `run` and returns its exit code. An error before MPI has started, as of a variable that cannot be
/// read, is a line of each process; a later one ends the program on all ranks.
template <typename Run>
int run_program(const char* program, int argc, char** argv, const EnvironmentOptions& options, const Run& run) {
  try {
    const Environment environment(argc, argv, options);
    try {
      return run();
    } catch (const std::exception& error) {
      command_line::abort_all(program, command_line::world_rank(), error);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
  }
  return 1;
}

}  // namespace tutti::miniapps
