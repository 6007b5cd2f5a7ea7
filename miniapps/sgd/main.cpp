// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <algorithm>
#include <tutti/communicator.hpp>
#include <tutti/environment.hpp>

#include "common/command_line/start.hpp"
#include "common/program.hpp"
#include "common/recovery.hpp"
#include "options.hpp"
#include "run.hpp"
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
  return tutti::miniapps::run_program("tutti-sgd", argc, argv, {.threads = threads}, [&] {
    if (parsed.stop) {
      return show(parsed, command_line::world_rank());
    }
    command_line::warn_of_launcher("tutti-sgd");
    return tutti::miniapps::run_to_exit_code(
        "tutti-sgd", tutti::Communicator::duplicate(MPI_COMM_WORLD), parsed.options,
        [&](const tutti::Communicator& comm, const sgd::Options& options) { run(comm, options, studies); });
  });
}
