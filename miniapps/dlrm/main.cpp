// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <tutti/communicator.hpp>

#include "application.hpp"
#include "common/command_line/start.hpp"
#include "common/program.hpp"
#include "common/recovery.hpp"
#include "options.hpp"

namespace command_line = tutti::command_line;

int main(int argc, char** argv) {
  const auto parsed = dlrm::parse_options(argc, argv);
  if (command_line::asks_for_document(argc, argv)) {
    return show(parsed, 0);
  }
  return tutti::miniapps::run_program("tutti-dlrm", argc, argv, {}, [&] {
    if (parsed.stop) {
      return show(parsed, command_line::world_rank());
    }
    command_line::warn_of_launcher("tutti-dlrm");
    return tutti::miniapps::run_to_exit_code("tutti-dlrm", tutti::Communicator::duplicate(MPI_COMM_WORLD),
                                             parsed.options, dlrm::run_application);
  });
}
