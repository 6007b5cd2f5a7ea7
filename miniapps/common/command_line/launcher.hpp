// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tutti::command_line {

/// The warning to print if a launcher started several processes and the MPI library sees `world_size` 1: then the
/// launcher belongs to another MPI, and each process is a job of its own. Empty if there is nothing to say, and on all
/// processes but the first that the launcher started, so that one of them speaks.
[[nodiscard]] std::string launcher_warning(const std::string& program, int world_size, const std::string& mpi_library);

}  // namespace tutti::command_line
