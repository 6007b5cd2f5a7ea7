// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <tutti/communicator.hpp>
#include <tutti/environment.hpp>

#include "application.hpp"
#include "common/agree.hpp"
#include "common/command_line/start.hpp"
#include "options.hpp"

namespace command_line = tutti::command_line;

int main(int argc, char** argv) {
  const auto parsed = dlrm::parse_options(argc, argv);
  if (command_line::asks_for_document(argc, argv)) {
    return show(parsed, 0);
  }
  const tutti::Environment environment(argc, argv);
  if (parsed.stop) {
    return show(parsed, command_line::world_rank());
  }
  command_line::warn_of_launcher("tutti-dlrm");
  const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
  try {
    dlrm::run_application(comm, parsed.options);
  } catch (const tutti::miniapps::AgreedError& error) {
    if (comm.rank() == 0) {
      std::fprintf(stderr, "tutti-dlrm: %s\n", error.what());
    }
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-dlrm: rank %d: %s\n", comm.rank(), error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 0;
}
