// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <cstdio>
#include <tutti/communicator.hpp>

#include "common/agree.hpp"
#include "common/command_line/start.hpp"
#include "common/program.hpp"
#include "options.hpp"

namespace {

namespace command_line = tutti::command_line;
using namespace tutti::data;

void run(const tutti::Communicator& comm, const Request& request) {
  switch (request.task) {
    case Task::convert:
      return convert(comm, request.convert);
    case Task::generate:
      return generate(comm, request.generate);
    case Task::info:
      return info(comm, request.view);
    case Task::check:
      return check(comm, request.view);
    case Task::sample:
      return sample(comm, request.view);
    case Task::stop:
      return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Request request = parse_command_line(argc, argv);
  if (command_line::asks_for_document(argc, argv)) return show(request, 0);
  return tutti::miniapps::run_program("tutti-data", argc, argv, {}, [&] {
    if (request.stop) return show(request, command_line::world_rank());
    command_line::warn_of_launcher("tutti-data");
    const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
    try {
      run(comm, request);
      return 0;
    } catch (const tutti::miniapps::AgreedError& error) {
      if (comm.rank() == 0) std::fprintf(stderr, "tutti-data: %s\n", error.what());
      return 1;
    }
  });
}
