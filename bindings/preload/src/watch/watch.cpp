// SPDX-License-Identifier: BSD-3-Clause
#include "watch/watch.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

#include "core/config.hpp"
#include "diagnosis/recorder.hpp"
#include "diagnosis/site_text.hpp"
#include "diagnosis/watchdog.hpp"
#include "errors.hpp"
#include "settings.hpp"
#include "watch/communicators.hpp"
#include "watch/mailbox.hpp"

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

}  // namespace

int check_level() {
  static const int level = config().check;
  return level;
}

void start_watching() {
  if (!settings().is_on || (config().check == 0 && config().watchdog.count() == 0)) return;
  int rank = 0;
  int size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::uint64_t job = agreed_job();
  if (auto* recorder = flight::Recorder::instance()) recorder->introduce(job, rank, size);
  if (config().check != 0) mailbox().open();
  detail::watches = true;
  communicators().open(job);
  if (config().watchdog.count() > 0) flight::start_watchdog(config().watchdog, config().watchdog_aborts);
}

void stop_checking() {
  if (is_checked()) mailbox().close();
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
