// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

namespace tutti::tools {

/// `tutti doctor`: finds what slows or breaks programs here, and tests every path.
void add_doctor(CLI::App& app);

/// For `tutti doctor`, before MPI is initialised: names on standard error what may keep MPI from starting.
void warn_before_mpi(int argc, const char* const* argv);

}  // namespace tutti::tools
