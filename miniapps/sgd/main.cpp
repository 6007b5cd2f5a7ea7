// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <tutti/communicator.hpp>
#include <tutti/environment.hpp>

#include "application.hpp"
#include "common/agree.hpp"
#include "common/command_line/start.hpp"
#include "options.hpp"
#include "study.hpp"

namespace {

void run(const tutti::Communicator& comm, const sgd::Options& options,
         const std::vector<std::unique_ptr<sgd::Study>>& studies) {
  const auto study = std::find_if(studies.begin(), studies.end(), [](const auto& s) { return s->selected(); });
  if (study != studies.end()) {
    (*study)->run(comm, options);
  } else {
    sgd::run_application(comm, options);
  }
}

}  // namespace

namespace command_line = tutti::command_line;

int main(int argc, char** argv) {
  const auto studies = sgd::make_studies();
  const auto parsed = sgd::parse_options(argc, argv, studies);
  if (command_line::asks_for_document(argc, argv)) {
    return show(parsed, 0);
  }
  const auto threads = parsed.options.progress_thread ? tutti::ThreadLevel::multiple : tutti::ThreadLevel::funneled;
  const tutti::Environment environment(argc, argv, {.threads = threads});
  if (parsed.stop) {
    return show(parsed, command_line::world_rank());
  }
  command_line::warn_of_launcher("tutti-sgd");
  tutti::CommunicatorOptions comm_options;
  comm_options.reproducible = parsed.options.reproducible;
  const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD, comm_options);
  try {
    run(comm, parsed.options, studies);
  } catch (const tutti::miniapps::AgreedError& error) {
    if (comm.rank() == 0) {
      std::fprintf(stderr, "tutti-sgd: %s\n", error.what());
    }
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-sgd: rank %d: %s\n", comm.rank(), error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 0;
}
