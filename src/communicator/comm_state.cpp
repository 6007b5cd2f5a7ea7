// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/comm_state.hpp"

#include <fmt/format.h>

#include <cstring>
#include <new>
#include <tutti/error.hpp>
#include <tutti/version.hpp>

#include "call/progress.hpp"
#include "communicator/lifetime.hpp"
#include "core/config.hpp"
#include "core/log.hpp"
#include "core/mpi_call.hpp"
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

/// Facts that must be equal on all ranks, as plain bytes to compare.
struct Agreement {
  int version[3];
  int reproducible;
  int native_blocking;
  int progress_thread;
  int shared_memory;
  int single_copy;
  int lacks_threads;  ///< a progress thread is wanted where MPI gives no MPI_THREAD_MULTIPLE
  std::int64_t timeout;
  std::uint64_t algorithms;  ///< hash of TUTTI_ALGORITHM
};

void check_agreement(const CommState& state) {
  Agreement mine{};
  std::memset(&mine, 0, sizeof mine);
  mine = {{TUTTI_VERSION_MAJOR, TUTTI_VERSION_MINOR, TUTTI_VERSION_PATCH},
          state.options.reproducible ? 1 : 0,
          state.options.native_blocking ? 1 : 0,
          config().progress_thread ? 1 : 0,
          config().shared_memory ? 1 : 0,
          config().single_copy ? 1 : 0,
          config().progress_thread && !has_thread_multiple() ? 1 : 0,
          state.options.timeout.count(),
          tuning::overrides_hash()};
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
    if (a.timeout != b.timeout) what = "the timeout (or TUTTI_TIMEOUT)";
    if (a.algorithms != b.algorithms) what = "TUTTI_ALGORITHM";
    if (what != nullptr)
      throw Error(
          ErrorCode::mismatch,
          fmt::format("ranks 0 and {} of the new communicator differ in {}; make it equal on all ranks", r, what));
  }
  // Only now, where all ranks read the same text: what is wrong with it is found on all of them.
  (void)tuning::override_for(Operation::barrier);
}

void use_topology(CommState& state, Topology topology) {
  state.topology = std::move(topology);
  state.node_of = nodes_of(state.topology);
  state.on_node = level_on_node(state.topology);
}

/// Collective: all choices here follow from shared facts.
void share_memory(CommState& state) {
  if (state.size == 1) {
    state.shm_report = "one rank";
  } else if (!config().shared_memory) {
    state.shm_report = "switched off by TUTTI_SHM=0";
  } else if (state.topology.nodes > 1) {
    state.shm_report = "ranks on several nodes";
  } else {
    state.arena = shm::Arena::create(state.collective, state.topology.oversubscribed, state.shm_report);
    const bool is_whole = state.arena && state.shm_report.empty();
    if (!is_whole && state.rank == 0) log_once("shared memory: " + state.shm_report);
  }
}

void create_private(CommState& state) {
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

CommState::CommState(MPI_Comm handle, CommunicatorOptions chosen) : user(handle), options(std::move(chosen)) {
  register_comm(this);
}

CommState::~CommState() {
  unregister_comm(this);
  release();
}

void CommState::release() noexcept {
  if (released_.exchange(true)) return;
  {
    const std::lock_guard lock(reason_mutex_);  // an abort under way ends first
    nccl_to_abort_.store(nullptr);
  }
  device.reset();
  if (!mpi_is_usable()) return;
  for (MPI_Comm* comm : {&collective, &point_to_point})
    if (*comm != MPI_COMM_NULL && !keeps_contexts_.load()) MPI_Comm_free(comm);
  if (owns_user && user != MPI_COMM_NULL) MPI_Comm_free(&user);
  user = MPI_COMM_NULL;
}

void CommState::use_device(std::unique_ptr<DeviceSide> side) {
  device = std::move(side);
  nccl_to_abort_.store(device->nccl.get());
  plans.clear();
}

std::string CommState::describe() const {
  return fmt::format("communicator {}rank {} of {}", options.name.empty() ? "" : "'" + options.name + "', ", rank,
                     size);
}

void CommState::check_usable() const {
  if (released_.load())
    throw Error(ErrorCode::finalized,
                fmt::format("{}: MPI has been finalized; make all calls before MPI_Finalize", describe()));
  check_aborted();
  if (broken_.load()) {
    const std::lock_guard lock(reason_mutex_);
    throw Error(ErrorCode::invalid_communicator,
                fmt::format("{}: an earlier collective failed ({}); create a new communicator", describe(), reason_));
  }
}

void CommState::throw_aborted() const {
  const std::lock_guard lock(reason_mutex_);
  throw Error(ErrorCode::aborted, fmt::format("{}: aborted{}{}", describe(), reason_.empty() ? "" : ": ", reason_));
}

void CommState::keep_reason(const std::string& reason) noexcept {
  try {
    reason_ = reason;
  } catch (const std::bad_alloc&) {
    reason_.clear();  // the failure is reported all the same, without its reason
  }
}

void CommState::abort(const std::string& reason) noexcept {
  const std::lock_guard lock(reason_mutex_);
  if (!aborted.load()) keep_reason(reason);
  aborted.store(true, std::memory_order_release);
  if (nccl::Comm* comm = nccl_to_abort_.load()) comm->abort();
}

void CommState::mark_broken(const std::string& reason) noexcept {
  const std::lock_guard lock(reason_mutex_);
  if (!broken_.load() && !aborted.load()) keep_reason(reason);
  broken_.store(true);
}

std::shared_ptr<CommState> make_comm_state(MPI_Comm handle, const CommunicatorOptions& options) {
  CommunicatorOptions chosen = options;
  chosen.reproducible = chosen.reproducible || config().reproducible;
  if (chosen.timeout.count() == 0) chosen.timeout = config().timeout;
  auto state = std::make_shared<CommState>(handle, chosen);
  create_private(*state);
  check_agreement(*state);
  use_topology(*state, discover_topology(state->collective));
  state->table = tuning::load_table(state->collective, state->topology, state->table_report);
  share_memory(*state);
  if (config().progress_thread) ProgressEngine::instance().start_thread();
  return state;
}

std::shared_ptr<CommState> make_child_state(const CommState& parent, MPI_Comm handle) {
  auto state = std::make_shared<CommState>(handle, parent.options);
  create_private(*state);
  use_topology(*state, restrict_topology(parent.topology, parent.collective, state->collective));
  state->table = tuning::load_table(state->collective, state->topology, state->table_report);
  share_memory(*state);
  return state;
}

}  // namespace tutti::detail
