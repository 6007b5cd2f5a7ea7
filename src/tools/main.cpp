// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tutti/environment.hpp>

#include "tools/explain.hpp"
#include "tools/program.hpp"
#include "tools/regret_command.hpp"
#include "tools/topo.hpp"
#include "tools/tune.hpp"

int main(int argc, char** argv) {
  const tutti::Environment environment(argc, argv);
  CLI::App app{
      "Shows how Tutti sees a machine, and explains and tunes its choices.\n"
      "Runs alone, or under mpiexec for the ranks of a job; rank 0 prints."};
  app.name("tutti");
  app.set_version_flag("--version", fmt::format("tutti {}", tutti::version()));
  app.require_subcommand(1);
  tutti::tools::add_topo(app);
  tutti::tools::add_explain(app);
  tutti::tools::add_tune(app);
  tutti::tools::add_regret(app);
  return tutti::tools::run(app, argc, argv);
}
