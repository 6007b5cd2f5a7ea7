// SPDX-License-Identifier: BSD-3-Clause
#include "call/context.hpp"

#include <fmt/format.h>

#include <new>
#include <tutti/error.hpp>

#include "call/deferred_free.hpp"
#include "call/lifetime.hpp"
#include "call/summary.hpp"
#include "core/mpi_call.hpp"

namespace tutti::detail {

Context::Context(CommunicatorOptions chosen) : options(std::move(chosen)), summary(Summary::if_wanted()) {
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
  for (const auto& state : states_)
    if (state) state->release();
  device.reset();
  if (!mpi_is_usable()) return;
  if (!keeps_contexts_.load()) {
    if (!broken_.load() && !aborted.load()) messages.settle();
    messages.free();
    if (point_to_point != MPI_COMM_NULL) MPI_Comm_free(&point_to_point);
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

Machine Context::machine() const {
  Machine machine;
  machine.rank = rank;
  machine.size = size;
  machine.oversubscribed = topology.oversubscribed;
  machine.several_nodes = topology.nodes > 1;
  machine.native_blocking = options.native_blocking;
  if (machine.several_nodes) machine.node_of = node_of;
  machine.on_node = on_node;
  machine.reduction_faults = reduction_faults;
  machine.costs = costs;
  machine.places = topology.places;
  machine.measured = measured.get();
  for (const auto& state : states_)
    if (state) state->describe(machine);
  if (device) {
    machine.device_prepared = true;
    machine.device_kernels = device->kernels;
    machine.cuda_aware = device->cuda_aware;
    machine.nccl_version = device->nccl_version;
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
  const std::lock_guard lock(reason_mutex_);
  throw Error(ErrorCode::invalid_communicator,
              fmt::format("{}: an earlier collective failed ({}); create a new communicator", describe(), reason_));
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
  const std::lock_guard lock(reason_mutex_);
  if (!aborted.load()) keep_reason(reason);
  aborted.store(true, std::memory_order_release);
  for (const auto& state : states_)
    if (state) state->abort();
}

void Context::mark_broken(ErrorCode code, const std::string& reason) noexcept {
  const std::lock_guard lock(reason_mutex_);
  if (!broken_.load() && !aborted.load()) keep_reason(reason);
  broken_.store(true);
  for (const auto& state : states_)
    if (state) state->fail(code, reason);
}

void Context::refuse(schedules::Operation operation) noexcept {
  if (released_.load() || aborted.load() || broken_.load()) return;
  for (const auto& state : states_)
    if (state) state->refuse(operation);
}

void Context::break_by_exception(std::string_view who) {
  keep_contexts();
  try {
    const Error error = as_error(fmt::format("{}, {}", who, describe()));
    mark_broken(error.code(), error.what());
    throw error;
  } catch (const std::bad_alloc&) {  // there is no memory even for words
    mark_broken(ErrorCode::out_of_memory, {});
    throw;
  }
}

}  // namespace tutti::detail
