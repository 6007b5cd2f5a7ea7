// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <tutti/environment.hpp>
#include <tutti/error.hpp>
#include <tutti/version.hpp>

#include "backends/list.hpp"
#include "call/peers.hpp"
#include "call/progress.hpp"
#include "core/config.hpp"
#include "core/mpi_call.hpp"
#include "device/runtime.hpp"

namespace tutti {
namespace {

/// Initialises MPI unless the caller has done so. Returns true if it did.
bool initialize_mpi(int* argc, char*** argv, ThreadLevel wanted) {
  constexpr int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0)
    throw Error(ErrorCode::finalized,
                "Environment: MPI has been finalized; create the environment before MPI_Finalize");
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized != 0) return false;
  int provided = MPI_THREAD_SINGLE;
  detail::check_mpi(MPI_Init_thread(argc, argv, levels[static_cast<int>(wanted)], &provided), "MPI_Init_thread");
  return true;
}

/// The launcher may end all processes before it has passed on their last words, so it gets time for these.
void abort_job() {
  if (!detail::world_is_usable()) return;
  std::fflush(nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/// The text of an exception is known to its handler alone, so the job lives until that has run.
void abort_at_exit() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr,
               "tutti: rank %d: an exception left the scope of tutti::Environment. Other ranks may wait for this one, "
               "so the job is aborted when the program ends (EnvironmentOptions::abort_on_exception)\n",
               rank);
  if (std::atexit(abort_job) != 0) abort_job();
}

ThreadLevel level_for(const EnvironmentOptions& options) {
  return options.progress_thread || detail::config().progress_thread ? ThreadLevel::multiple : options.threads;
}

}  // namespace

Environment::Environment(int& argc, char**& argv, const EnvironmentOptions& options)
    : owns_mpi_(initialize_mpi(&argc, &argv, level_for(options))),
      aborts_(options.abort_on_exception),
      exceptions_(std::uncaught_exceptions()) {
  if (options.progress_thread) start_progress_thread();
}

Environment::Environment(const EnvironmentOptions& options)
    : owns_mpi_(initialize_mpi(nullptr, nullptr, level_for(options))),
      aborts_(options.abort_on_exception),
      exceptions_(std::uncaught_exceptions()) {
  if (options.progress_thread) start_progress_thread();
}

Environment::~Environment() {
  stop_progress_thread();
  if (!owns_mpi_ || !detail::world_is_usable()) return;
  if (aborts_ && std::uncaught_exceptions() > exceptions_)
    abort_at_exit();
  else if (!detail::Peers::any_has_ended())  // MPI_Finalize would wait for that rank
    MPI_Finalize();
}

void Environment::start_progress_thread() { detail::ProgressEngine::instance().start_thread(); }
void Environment::stop_progress_thread() noexcept { detail::ProgressEngine::instance().stop_thread(); }

const char* version() noexcept { return TUTTI_VERSION_STRING; }

std::string config_summary() {
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(library, &length);
  std::string_view text(library, static_cast<std::size_t>(length));
  text = text.substr(0, text.find('\n'));
  const char* cuda = detail::device::built_runtime() != nullptr ? "built in" : "not built";
  std::string summary = fmt::format("tutti {}\nMPI: {} (MPI {}.{})\nKokkos: {}\nCUDA: {}\n", TUTTI_VERSION_STRING, text,
                                    MPI_VERSION, MPI_SUBVERSION, TUTTI_KOKKOS, cuda);
  for (const detail::Backend* backend : detail::backends())
    if (backend->summary != nullptr) summary += backend->summary() + '\n';
  return summary;
}

}  // namespace tutti
