// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace tutti::tools {

/// `tutti run -- program arguments`: this process becomes a program that calls MPI only, with libtutti-mpi loaded
/// before the MPI. For each rank, under any launcher.
void add_run(CLI::App& app);

/// Whether a command line names `run`, for which MPI must not be initialised.
[[nodiscard]] bool is_run(int argc, const char* const* argv);

}  // namespace tutti::tools
