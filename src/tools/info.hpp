// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tools/program.hpp"

namespace tutti::tools {

/// `tutti info`: version, MPI, how the library was built, what it can do here, its files, its variables.
void add_info(CLI::App& app);

/// What it prints. Collective over MPI_COMM_WORLD.
[[nodiscard]] std::string info_text();

}  // namespace tutti::tools
