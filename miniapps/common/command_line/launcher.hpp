// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

namespace tutti::command_line {

/// A launcher that started several processes, as its environment variables say.
struct Launch {
  std::string launcher;  ///< "the launcher of Open MPI"
  std::string variable;  ///< that has the number of processes
  int processes = 0;
  int process = 0;  ///< the place of this one among them
};

/// The launcher of this process, if it started several. With `world_size` 1 it belongs to another MPI than the library,
/// and each process is a job of its own. Local; MPI need not be initialised.
[[nodiscard]] std::optional<Launch> launch_of_several();

/// The warning to print if a launcher started several processes and the MPI library sees `world_size` 1: then the
/// launcher belongs to another MPI, and each process is a job of its own. Empty if there is nothing to say, and on all
/// processes but the first that the launcher started, so that one of them speaks.
[[nodiscard]] std::string launcher_warning(const std::string& program, int world_size, const std::string& mpi_library);

}  // namespace tutti::command_line
