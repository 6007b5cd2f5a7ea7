// SPDX-License-Identifier: BSD-3-Clause
#include "tools/commands.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string_view>

#include "common/command_line/launcher.hpp"
#include "common/command_line/options.hpp"
#include "tools/doctor/gather.hpp"
#include "tools/doctor/report.hpp"
#include "tools/program.hpp"

namespace tutti::tools {
namespace {

using namespace command_line;

struct DoctorSettings {
  bool json = false;
  bool no_test = false;
  doctor::PathEffort effort{};
};

/// A process of a job whose launcher belongs to another MPI: the first of them speaks for all.
bool is_silent() {
  const auto launch = launch_of_several();
  return world_size() == 1 && launch && launch->process != 0;
}

void examine(const DoctorSettings& settings) {
  // With success: a launcher that sees a failure may end the one that speaks.
  if (is_silent()) return;
  doctor::RankFacts own = doctor::facts_of_this_process();
  doctor::Report report;
  report.slow = settings.effort.slow;
  report.job = doctor::gather_job(own);
  Communicator comm = doctor::make_communicator(report.job.made);
  if (comm.valid()) {
    doctor::prepare_device(comm, own, report.job.made);
    if (!settings.no_test) report.tests = doctor::test_paths(comm, report.job.made, settings.effort);
  }
  if (is_root()) {
    report.findings = doctor::findings_of(report.job);
    for (doctor::Finding& finding : doctor::path_findings(report.tests, settings.effort.slow))
      report.findings.push_back(std::move(finding));
    doctor::sort_by_severity(report.findings);
    print(settings.json ? doctor::report_json(report) : doctor::report_text(report));
  }
  if (doctor::from_root(count_of(report, doctor::Severity::error) > 0 ? 1 : 0) != 0) throw CLI::RuntimeError(1);
}

}  // namespace

void warn_before_mpi(int argc, const char* const* argv) {
  if (argc < 2 || std::string_view(argv[1]) != "doctor") return;
  const auto launch = launch_of_several();
  if (launch && launch->process != 0) return;
  // MPIs keep their own segments there: UCX takes 4.3 MiB of one file for each process.
  constexpr std::uint64_t least = std::uint64_t{5} << 20U;
  const doctor::SharedMemory shm = doctor::shared_memory_here();
  const char* problem = !shm.exists                                ? "/dev/shm is not there"
                        : shm.is_read_only                         ? "/dev/shm is read-only"
                        : shm.free_bytes < least                   ? "/dev/shm is full"
                        : doctor::limits_here().file_bytes < least ? "the file size limit is low (ulimit -f)"
                                                                   : nullptr;
  if (problem != nullptr)
    fmt::print(stderr, "tutti: doctor: {}: if MPI does not start now, correct it first\n", problem);
}

void add_doctor(CLI::App& app) {
  const auto settings = std::make_shared<DoctorSettings>();
  CLI::App* examined = app.add_subcommand(
      "doctor",
      "Finds what slows or breaks programs on this machine, each with a remedy, and tests every path: run it as your\n"
      "programs run (mpiexec -n 4 tutti doctor). Ends with status 1 if it finds an error.");
  add_flag(*examined, "--no-test", settings->no_test, "looks at the machine only, without the tests of paths");
  add_number(*examined, "--slow", settings->effort.slow, {1, 1000, true},
             "a path is slow if it takes so many times as long as its model expects");
  add_number(*examined, "--budget", settings->effort.budget, {0, 1e6},
             "time for timing paths, in seconds; the others are tested for their results only");
  add_flag(*examined, "--json", settings->json, "prints JSON");
  examined->callback([settings] { examine(*settings); });
}

}  // namespace tutti::tools
