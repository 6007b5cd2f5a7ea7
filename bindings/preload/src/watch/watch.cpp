// SPDX-License-Identifier: BSD-3-Clause
#include "watch/watch.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <tutti/error.hpp>

#include "core/config.hpp"
#include "diagnosis/recorder.hpp"
#include "diagnosis/site_text.hpp"
#include "diagnosis/watchdog.hpp"
#include "errors.hpp"
#include "settings.hpp"
#include "watch/communicators.hpp"
#include "watch/record.hpp"

namespace tutti::preload {

namespace flight = tutti::detail::flight;
using tutti::detail::config;

namespace {

/// A number that no other job on the ranks' hosts has.
std::uint64_t agreed_job() {
  std::uint64_t job = (std::uint64_t{std::random_device{}()} << 32U) | std::random_device{}();
  PMPI_Bcast(&job, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  return job;
}

MPI_Comm private_world = MPI_COMM_NULL;

void open_channel() {
  PMPI_Comm_dup(MPI_COMM_WORLD, &private_world);
  PMPI_Comm_set_errhandler(private_world, MPI_ERRORS_RETURN);
  channel().open(private_world);
}

void start() {
  int rank = 0;
  int size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::uint64_t job = agreed_job();
  if (auto* recorder = flight::Recorder::instance()) recorder->introduce(job, rank, size);
  if (config().check != 0) open_channel();
  detail::watches = true;
  communicators().open(job);
  if (config().watchdog.count() > 0) flight::start_watchdog(config().watchdog, config().watchdog_aborts);
}

/// Whether some rank has a watchdog, or all check their calls. Throws where they disagree, and where one of them cannot
/// read its variables.
bool is_wanted_by_all() {
  struct Wanted {
    int check = 0;
    int least_check = 0;  ///< times -1, for one maximum of all
    int watchdog = 0;
    int unreadable = 0;
  } all;
  std::exception_ptr problem;
  try {
    const int check = config().check;
    all = {check, -check, config().watchdog.count() > 0 ? 1 : 0, 0};
  } catch (...) {
    problem = std::current_exception();
    all.unreadable = 1;
  }
  PMPI_Allreduce(MPI_IN_PLACE, &all, sizeof all / sizeof(int), MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (problem) std::rethrow_exception(problem);
  if (all.unreadable != 0)
    throw Error(ErrorCode::invalid_argument, "another rank cannot read a variable TUTTI_...; correct it there");
  if (all.check != -all.least_check)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("TUTTI_CHECK is {} on one rank and {} on another; set it equal on all ranks",
                            -all.least_check, all.check));
  return all.check != 0 || all.watchdog != 0;
}

}  // namespace

int check_level() {
  static const int level = config().check;
  return level;
}

int start_watching() {
  try {
    check_switches();
    if (settings().is_on && is_wanted_by_all()) start();
    return MPI_SUCCESS;
  } catch (...) {
    return raise(MPI_COMM_WORLD, code_of_exception());
  }
}

void stop_checking() {
  if (!is_checked()) return;
  // Never destroyed: records may be sent from it until the process ends.
  const auto* unsent = new std::shared_ptr<void>(channel().close());
  if (*unsent == nullptr) PMPI_Comm_free(&private_world);
}

void stop_watching() {
  if (!is_watched()) return;
  detail::watches = false;
  flight::stop_watchdog();
  if (auto* recorder = flight::Recorder::instance()) recorder->finish();
}

std::string current_place() { return text_of(tutti::detail::record_of(tutti::detail::take_site())); }

void say(const std::string& text) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fputs(fmt::format("tutti-mpi: rank {}: {}\n", rank, text).c_str(), stderr);
}

}  // namespace tutti::preload
