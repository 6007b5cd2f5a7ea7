// SPDX-License-Identifier: BSD-3-Clause
#include "call/context.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <new>
#include <thread>
#include <tutti/error.hpp>

#include "call/check.hpp"
#include "call/deferred_free.hpp"
#include "call/execution.hpp"
#include "call/known_calls.hpp"
#include "call/late_communicator.hpp"
#include "call/summary.hpp"
#include "core/config.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail {
namespace {

/// The message of an abort; ends with a null character.
constexpr int abort_words = 256;
using AbortWords = std::array<char, abort_words>;

/// Whether the exception that is being handled is one.
bool is_refused_memory() {
  try {
    throw;
  } catch (const MemoryRefused&) {
    return true;
  } catch (...) {
    return false;
  }
}

/// Without memory nothing is left here, which the next communicator of these ranks finds out.
void leave_trials(const Context& context) noexcept {
  try {
    context.known->heritage->leave(context.trials, facts_of_ways(context.machine()));
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
}

bool may_call_mpi() noexcept {
  int level = MPI_THREAD_SINGLE;
  int is_main = 0;
  MPI_Query_thread(&level);
  MPI_Is_thread_main(&is_main);
  return level == MPI_THREAD_MULTIPLE || is_main != 0;
}

}  // namespace

Context::Context(CommunicatorOptions chosen)
    : options(std::move(chosen)),
      known(std::make_unique<KnownCalls>()),
      plans(known->plans),
      repeats(known->repeats),
      trials(known->trials),
      summary(Summary::if_wanted()) {
  (void)error_without_words();
  if (!world_is_usable()) session.emplace();
  register_context(this);
}

Context::~Context() {
  unregister_context(this);
  release();
}

void Context::let_go(std::shared_ptr<Context>&& context) noexcept {
  const auto ended = std::move(context);
  if (ended && std::uncaught_exceptions() > ended->exceptions_) defer_free(ended);
}

void Context::release() noexcept {
  if (released_.exchange(true)) return;
  if (known->heritage && !broken_.load() && !aborted.load()) leave_trials(*this);
  if (node) node->release();
  for (const auto& state : states_)
    if (state) state->release();
  device.reset();
  // A wait for a rank that has ended would not end.
  if (peers.look() >= 0) keep_contexts();
  if (!mpi_is_usable()) return;
  if (check) check->close(!broken_.load() && !aborted.load());
  if (!keeps_contexts_.load()) {
    if (!broken_.load() && !aborted.load()) messages.settle();
    messages.free();
    if (point_to_point != MPI_COMM_NULL) {
      count_private(-1);
      MPI_Comm_free(&point_to_point);
    }
  }
  own_handle.free();
  if (own_errors != MPI_ERRHANDLER_NULL) MPI_Errhandler_free(&own_errors);
  if (owns_user && user != MPI_COMM_NULL) MPI_Comm_free(&user);
  user = MPI_COMM_NULL;
  session.reset();
}

MPI_Comm Context::handle() {
  if (user != MPI_COMM_NULL || released_.load() || own_handle.get() != MPI_COMM_NULL)
    return user != MPI_COMM_NULL ? user : own_handle.get();
  own_handle.begin(point_to_point);
  if (!own_handle.wait(options.timeout))
    throw Error(ErrorCode::timeout,
                fmt::format("mpi_handle, {}: the first call is collective, and a rank has not made it; call it on all "
                            "ranks",
                            describe()));
  if (own_errors != MPI_ERRHANDLER_NULL)
    check_mpi(MPI_Comm_set_errhandler(own_handle.get(), own_errors), "MPI_Comm_set_errhandler");
  return own_handle.get();
}

void Context::set_state(const Backend& backend, std::unique_ptr<BackendState> state, std::string report) {
  const std::lock_guard lock(reason_mutex_);
  states_[backend.slot] = std::move(state);
  reports_[backend.slot] = std::move(report);
}

const PlanPtr& Context::plan_on_node(const Signature& signature) {
  return plans.get(signature, [this](const Signature& s) { return make_plan(s, machine()); });
}

void Context::forget_plans() {
  plans.clear();
  repeats.clear();
}

Machine Context::machine() const {
  Machine machine;
  machine.rank = rank;
  machine.size = size;
  machine.oversubscribed = topology.oversubscribed;
  machine.several_nodes = topology.nodes > 1;
  machine.native_blocking = options.native_blocking;
  machine.heartbeat = config().heartbeat.count() > 0;
  if (machine.several_nodes) machine.node_of = &node_of;
  machine.node_memory = node_memory;
  machine.on_node = on_node;
  machine.reduction_faults = reduction_faults;
  machine.network = network;
  machine.progress_hook = progress_hook;
  machine.costs = costs;
  machine.places = topology.places;
  machine.measured = measured.get();
  machine.fabric = &fabric;
  for (const auto& state : states_)
    if (state) state->describe(machine);
  if (device) {
    machine.device_prepared = true;
    machine.device_kernels = device->kernels;
    machine.cuda_aware = device->cuda_aware;
    machine.nccl_version = device->nccl_version;
    machine.nccl_float8 = device->nccl_float8;
  }
  return machine;
}

std::string Context::describe() const {
  return fmt::format("communicator {}rank {} of {}", options.name.empty() ? "" : "'" + options.name + "', ", rank,
                     size);
}

void Context::throw_unusable() const {
  if (released_.load())
    throw Error(ErrorCode::finalized,
                fmt::format("{}: MPI has been finalized; make all calls before MPI_Finalize", describe()));
  check_aborted();
  if (peers.ended() >= 0) throw Error(ErrorCode::peer_died, words_on_ended("a call"));
  const std::lock_guard lock(reason_mutex_);
  throw Error(ErrorCode::invalid_communicator,
              fmt::format("{}: an earlier collective failed ({}); create a new communicator", describe(), reason_));
}

void Context::check_peers(std::string_view who) {
  if (peers.look() >= 0) throw Error(ErrorCode::peer_died, words_on_ended(who));
}

std::string Context::words_on_ended(std::string_view who) const {
  return fmt::format("{}, {}: {} has ended; call shrink() for a communicator of the others, or end the program", who,
                     describe(), peers.name(peers.ended()));
}

void Context::throw_aborted() const {
  const std::lock_guard lock(reason_mutex_);
  throw Error(ErrorCode::aborted, fmt::format("{}: aborted{}{}", describe(), reason_.empty() ? "" : ": ", reason_));
}

void Context::keep_reason(const std::string& reason) noexcept {
  try {
    reason_ = reason;
  } catch (const std::bad_alloc&) {
    reason_.clear();  // the failure is still reported, without its reason
  }
}

void Context::abort(const std::string& reason) noexcept {
  const bool is_news = !aborted.load() && !released_.load();
  abort_here(reason);
  if (!is_news) return;
  keep_contexts();  // those who abort too never take the message
  tell_of_abort(reason);
}

void Context::abort_here(const std::string& reason) noexcept {
  const std::lock_guard lock(reason_mutex_);
  if (!aborted.load()) keep_reason(reason);
  aborted.store(true, std::memory_order_release);
  for (const auto& state : states_)
    if (state) state->abort();
  if (node) node->abort_here(reason);
}

// Over shared memory by the states, and over messages if this thread may call MPI. Nobody waits for collectives over
// messages whose communicator was not made.
void Context::tell_of_abort(const std::string& reason) const noexcept {
  for (const auto& state : states_)
    if (state) state->fail(ErrorCode::aborted, reason);
  if (node) node->tell_of_abort(reason);
  const MPI_Comm comm = messages.get();
  if (comm == MPI_COMM_NULL || !mpi_is_usable() || !may_call_mpi()) return;
  try {
    const auto words = std::make_shared<AbortWords>();
    reason.copy(words->data(), words->size() - 1);
    for (int r = 0; r < size; ++r) {
      if (r == rank) continue;
      MPI_Request request = MPI_REQUEST_NULL;
      if (MPI_Isend(words->data(), abort_words, MPI_CHAR, r, abort_tag(), comm, &request) == MPI_SUCCESS)
        MPI_Request_free(&request);
    }
    defer_free(words);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the others end by their timeout
  }
}

void Context::tell_of_failure() const noexcept {
  std::string reason;
  try {
    const std::lock_guard lock(reason_mutex_);
    const bool is_known = broken_by_ == ErrorCode::peer_died || broken_by_ == ErrorCode::finalized;
    if (!broken_.load() || aborted.load() || released_.load() || is_known) return;
    reason = reason_;
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): they are told without the reason
  }
  tell_of_abort(reason);
}

void Context::hear_of_abort() {
  const MPI_Comm comm = messages.get();
  if (comm == MPI_COMM_NULL || aborted.load()) return;
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  check_mpi(MPI_Improbe(MPI_ANY_SOURCE, abort_tag(), comm, &found, &message, &status), "MPI_Improbe");
  if (found == 0) return;
  AbortWords words{};
  check_mpi(MPI_Mrecv(words.data(), abort_words, MPI_CHAR, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
  keep_contexts();
  abort_here(fmt::format("by rank {}: {}", status.MPI_SOURCE, words.data()));
}

void Context::mark_broken(ErrorCode code, const std::string& reason) noexcept {
  const std::lock_guard lock(reason_mutex_);
  if (!broken_.load() && !aborted.load()) {
    keep_reason(reason);
    broken_by_ = code;
  }
  broken_.store(true);
  for (const auto& state : states_)
    if (state) state->fail(code, reason);
  if (node) node->mark_broken(code, reason);
  if (check) check->fail(code, reason);
}

void Context::refuse(flight::Call call) noexcept {
  if (check && !released_.load()) check->refuse(call);
  refuse_turn(call);
}

void Context::refuse_turn(flight::Call call) noexcept {
  if (released_.load() || aborted.load() || broken_.load()) return;
  for (const auto& state : states_)
    if (state) state->refuse(call);
}

Error Context::explain(std::string_view who) {
  using namespace std::chrono_literals;
  const Error error = as_error(fmt::format("{}, {}", who, describe()));
  // The host MPI and the kernel refuse what concerns a process that has ended.
  if (error.code() != ErrorCode::mpi && error.code() != ErrorCode::internal) return error;
  // The kernel takes the memory and the connections of a process some time before it tells of its end, and the host MPI
  // may know of a broken connection before this rank is told of the end on another node.
  const bool may_be_told = error.code() == ErrorCode::mpi && peers.watches_all();
  const auto until_told = peers.sees_all() ? 200ms : 1s + config().heartbeat;
  const auto end = Peers::Clock::now() + (may_be_told ? until_told : 1s);
  while ((may_be_told || is_refused_memory()) && Peers::Clock::now() < end) {
    if (peers.look() >= 0) break;
    std::this_thread::sleep_for(1ms);
  }
  return peers.look() < 0 ? error : Error(ErrorCode::peer_died, words_on_ended(who));
}

void Context::break_by_exception(std::string_view who, std::string_view way) {
  keep_contexts();
  try {
    const Error error = explain(way.empty() ? std::string(who) : fmt::format("{} ({})", who, way));
    mark_broken(error.code(), error.what());
    throw error;
  } catch (const std::bad_alloc&) {
    mark_broken(ErrorCode::out_of_memory, {});
    throw Error(error_without_words());
  }
}

void Context::break_by_exception(const Plan& plan) {
  break_by_exception(operation_name(plan.signature.operation), plan.way);
}

}  // namespace tutti::detail
