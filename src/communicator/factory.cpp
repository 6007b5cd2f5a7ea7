// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/factory.hpp"

#include <fmt/format.h>

#include <cstring>
#include <tutti/error.hpp>
#include <tutti/version.hpp>

#include "backends/list.hpp"
#include "call/progress.hpp"
#include "core/config.hpp"
#include "core/mpi_call.hpp"
#include "planner/calibration.hpp"
#include "planner/files.hpp"
#include "planner/overrides.hpp"
#include "topology/discover.hpp"

namespace tutti::detail {
namespace {

MPI_Comm duplicate_yielding(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Comm_idup(comm, &copy, &request), "MPI_Comm_idup");
  wait_yielding(request, "MPI_Comm_idup");
  check_mpi(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return copy;
}

bool has_thread_multiple() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

/// The facts that must be equal on all ranks, as plain bytes to compare, and the faults, which are united.
struct Agreement {
  int version[3];
  int reproducible;
  int native_blocking;
  int progress_thread;
  int shared_memory;
  int single_copy;
  int trials;
  int calibration;
  int lacks_threads;  ///< a progress thread is wanted, but MPI lacks MPI_THREAD_MULTIPLE
  std::int64_t timeout;
  std::uint64_t algorithms;  ///< hash of TUTTI_ALGORITHM
  ReductionFaults reduction_faults;
};

void check_agreement(Context& state) {
  Agreement mine{};
  mine = {{TUTTI_VERSION_MAJOR, TUTTI_VERSION_MINOR, TUTTI_VERSION_PATCH},
          state.options.reproducible ? 1 : 0,
          state.options.native_blocking ? 1 : 0,
          config().progress_thread ? 1 : 0,
          config().shared_memory ? 1 : 0,
          config().single_copy ? 1 : 0,
          config().trials ? 1 : 0,
          static_cast<int>(config().calibration),
          config().progress_thread && !has_thread_multiple() ? 1 : 0,
          state.options.timeout.count(),
          tuning::overrides_hash(),
          own_reduction_faults()};
  std::vector<Agreement> all(static_cast<std::size_t>(state.size));
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, state.collective, &request),
            "MPI_Iallgather");
  wait_yielding(request, "MPI_Iallgather");
  for (int r = 0; r < state.size; ++r)
    if (all[static_cast<std::size_t>(r)].lacks_threads != 0)
      throw Error(
          ErrorCode::not_supported,
          fmt::format("TUTTI_PROGRESS_THREAD=1 needs MPI_THREAD_MULTIPLE, which rank {} of the new communicator has "
                      "not; initialise MPI with it, or leave the variable unset",
                      r));
  for (int r = 1; r < state.size; ++r) {
    const Agreement& a = all[0];
    const Agreement& b = all[static_cast<std::size_t>(r)];
    const char* what = nullptr;
    if (std::memcmp(a.version, b.version, sizeof a.version) != 0) what = "the version of the library";
    if (a.reproducible != b.reproducible) what = "the option reproducible (or TUTTI_REPRODUCIBLE)";
    if (a.native_blocking != b.native_blocking) what = "the option native_blocking";
    if (a.progress_thread != b.progress_thread) what = "TUTTI_PROGRESS_THREAD";
    if (a.shared_memory != b.shared_memory) what = "TUTTI_SHM";
    if (a.single_copy != b.single_copy) what = "TUTTI_SINGLE_COPY";
    if (a.trials != b.trials) what = "TUTTI_TRIALS";
    if (a.calibration != b.calibration) what = "TUTTI_CALIBRATION";
    if (a.timeout != b.timeout) what = "the timeout (or TUTTI_TIMEOUT)";
    if (a.algorithms != b.algorithms) what = "TUTTI_ALGORITHM";
    if (what != nullptr)
      throw Error(
          ErrorCode::mismatch,
          fmt::format("ranks 0 and {} of the new communicator differ in {}; make it equal on all ranks", r, what));
  }
  for (const Agreement& one : all) state.reduction_faults.add(one.reduction_faults);
  // Checked only now, when all ranks read the same text, so that all of them find the same error.
  (void)tuning::override_for(Operation::barrier);
}

void use_topology(Context& state, Topology topology) {
  state.topology = std::move(topology);
  state.node_of = nodes_of(state.topology);
  state.on_node = level_on_node(state.topology);
}

/// Collective. All choices here follow from shared facts.
void create_states(Context& context) {
  for (const Backend* backend : backends()) {
    if (backend->create_state == nullptr) continue;
    std::string report;
    auto state = backend->create_state(context, report);
    context.set_state(*backend, std::move(state), std::move(report));
  }
}

void load_measurements(Context& context) {
  context.measured = tuning::load_table(context.collective, context.topology, context.measured_report);
}

void create_private(Context& state) {
  check_mpi(MPI_Comm_rank(state.user, &state.rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(state.user, &state.size), "MPI_Comm_size");
  state.collective = duplicate_yielding(state.user);
  state.point_to_point = duplicate_yielding(state.user);
  int* upper = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(state.collective, MPI_TAG_UB, static_cast<void*>(&upper), &found), "MPI_Comm_get_attr");
  if (found != 0) state.tag_half = (*upper - 1) / 2;
}

}  // namespace

std::shared_ptr<Context> make_context(MPI_Comm handle, const CommunicatorOptions& options) {
  CommunicatorOptions chosen = options;
  chosen.reproducible = chosen.reproducible || config().reproducible;
  if (chosen.timeout.count() == 0) chosen.timeout = config().timeout;
  auto state = std::make_shared<Context>(handle, chosen);
  create_private(*state);
  check_agreement(*state);
  use_topology(*state, discover_topology(state->collective));
  load_measurements(*state);
  create_states(*state);
  tuning::calibrate(*state);
  if (config().progress_thread) ProgressEngine::instance().start_thread();
  return state;
}

std::shared_ptr<Context> make_child_context(const Context& parent, MPI_Comm handle) {
  auto state = std::make_shared<Context>(handle, parent.options);
  create_private(*state);
  use_topology(*state, restrict_topology(parent.topology, parent.collective, state->collective));
  load_measurements(*state);
  create_states(*state);
  state->reduction_faults = parent.reduction_faults;
  state->costs = parent.costs;
  state->costs_report = parent.costs_report;
  return state;
}

}  // namespace tutti::detail
