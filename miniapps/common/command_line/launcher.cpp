// SPDX-License-Identifier: BSD-3-Clause
#include "launcher.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <stdexcept>

#include "numbers.hpp"

namespace tutti::command_line {

namespace {

/// How a launcher tells its processes their number and place.
struct Launcher {
  const char* size;
  const char* rank;
  const char* name;
};

constexpr std::array<Launcher, 4> launchers = {{
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "the launcher of Open MPI"},
    {"PMI_SIZE", "PMI_RANK", "the launcher of MPICH or one of its kin (PMI)"},
    {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "the launcher of MVAPICH2"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun"},
}};

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return 0;
  try {
    return parse_number<int>(text, {0});
  } catch (const std::invalid_argument&) {
    return 0;
  }
}

}  // namespace

std::optional<Launch> launch_of_several() {
  for (const Launcher& launcher : launchers)
    if (const int started = number_in(launcher.size); started > 1)
      return Launch{launcher.name, launcher.size, started, number_in(launcher.rank)};
  return std::nullopt;
}

std::string launcher_warning(const std::string& program, int world_size, const std::string& mpi_library) {
  if (world_size != 1) return {};
  const auto launch = launch_of_several();
  if (!launch || launch->process != 0) return {};
  return fmt::format(
      "{}: warning: {} started {} processes ({}={}), but each is a job of 1 rank here, because the MPI library is "
      "another: {}; start the program with the launcher of that library\n",
      program, launch->launcher, launch->processes, launch->variable, launch->processes, mpi_library);
}

}  // namespace tutti::command_line
