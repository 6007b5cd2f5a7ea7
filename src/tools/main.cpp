// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cstdio>
#include <tutti/environment.hpp>
#include <tutti/error.hpp>

#include "common/command_line/parse.hpp"
#include "common/command_line/start.hpp"
#include "tools/commands.hpp"
#include "tools/doctor/gather.hpp"
#include "tools/program.hpp"
#include "tools/topo.hpp"

using namespace tutti::command_line;

namespace {

int run_with_mpi(CLI::App& app, int argc, char** argv) {
  const tutti::Environment environment(argc, argv);
  tutti::command_line::warn_of_launcher("tutti");
  const int status = tutti::tools::run(app, argc, argv);
  tutti::tools::doctor::meet();  // docs/communicators.md: MPI_Finalize may hang where one rank comes later
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Shows how Tutti sees a machine, and explains and tunes its choices.\n"
      "Runs alone, or under mpiexec for the ranks of a job; rank 0 prints."};
  app.name("tutti");
  app.require_subcommand(1);
  tutti::tools::add_info(app);
  tutti::tools::add_topo(app);
  tutti::tools::add_explain(app);
  tutti::tools::add_tune(app);
  tutti::tools::add_regret(app);
  tutti::tools::add_doctor(app);
  tutti::tools::add_flight(app);
  tutti::tools::add_diff(app);
  tutti::tools::add_trace(app);
  tutti::tools::add_run(app);
  add_helps(app, tutti::tools::version_text());
  if (tutti::command_line::asks_for_document(argc, argv)) return show(parse(app, {argv[1]}, [] {}), 0);
  using tutti::tools::is_diff, tutti::tools::is_flight, tutti::tools::is_run, tutti::tools::is_trace;
  if (is_run(argc, argv) || is_flight(argc, argv) || is_diff(argc, argv) || is_trace(argc, argv))
    return show(parse(app, arguments_of(argc, argv), [] {}), 0);
  tutti::tools::warn_before_mpi(argc, argv);
  try {
    return run_with_mpi(app, argc, argv);
  } catch (const tutti::Error& error) {  // a variable that cannot be read
    fmt::print(stderr, "tutti: {}\n", error.what());
    return 1;
  }
}
