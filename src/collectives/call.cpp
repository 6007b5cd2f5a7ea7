// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/call.hpp"

#include <fmt/format.h>

#include <tutti/error.hpp>

#include "algorithms/registry.hpp"
#include "backends/mpi/schedule_execution.hpp"
#include "backends/native/native_execution.hpp"
#include "backends/shm/shm_execution.hpp"
#include "communicator/planner.hpp"
#include "communicator/progress.hpp"
#include "tuning/overrides.hpp"

namespace tutti::detail {
namespace {

void complete_signature(Signature& signature, CallKind kind, const CommState& comm, const Options& options) {
  signature.kind = kind;
  signature.reproducible = options.reproducible || comm.options.reproducible;
  signature.has_timeout = timeout_of(comm, options).count() > 0;
  signature.accumulation = options.accumulation;
  if (options.algorithm.empty())
    signature.algorithm = tuning::override_for(signature.operation);
  else
    signature.algorithm = options.algorithm;
}

/// Valid until the next call on the communicator.
const std::shared_ptr<const Plan>& plan_for(CommState& comm, const Signature& signature) {
  comm.check_usable();
  if (signature.memory == MemoryClass::device)
    throw Error(
        ErrorCode::not_built,
        fmt::format("{}, {}: a buffer is in device memory, for which this library has no backend; copy it to host "
                    "memory",
                    algorithms::operation_name(signature.operation), comm.describe()));
  return comm.plans.get(signature, [&comm](const Signature& s) { return make_plan(s, machine_of(comm)); });
}

/// For an execution that ends before the call does: without the cost of counting.
template <typename T>
std::shared_ptr<T> unowned(const std::shared_ptr<T>& held) {
  return {std::shared_ptr<void>(), held.get()};
}

}  // namespace

std::chrono::nanoseconds timeout_of(const CommState& comm, const Options& options) {
  if (options.timeout.count() < 0)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: argument options.timeout is negative; pass 0 for none", comm.describe()));
  return options.timeout.count() > 0 ? options.timeout : comm.options.timeout;
}

void run(const Communicator& communicator, Call call, const Options& options) {
  const auto& comm = communicator.state();
  complete_signature(call.signature, CallKind::blocking, *comm, options);
  const auto& plan = plan_for(*comm, call.signature);
  if (plan->backend == Backend::shm) {
    ProgressEngine::instance().poll();
    ShmProgress begun;
    if (run_at_once(*comm, *plan, call.binding, begun)) return;
    ShmExecution execution(unowned(comm), unowned(plan), std::move(call.binding), ShmExecution::ordered,
                           timeout_of(*comm, options));
    execution.resume(begun);
    run_to_end(execution);
    return;
  }
  if (plan->backend == Backend::native) {
    if (may_block_inside_mpi(call.signature, machine_of(*comm))) {
      run_native_blocking(*comm, *plan, call.binding);
      return;
    }
    NativeExecution execution(comm, plan, std::move(call.binding), timeout_of(*comm, options));
    run_to_end(execution);
    return;
  }
  ScheduleExecution execution(comm, plan, std::move(call.binding), comm->next_tag(), timeout_of(*comm, options));
  run_to_end(execution);
}

Request start(const Communicator& communicator, Call call, const Options& options) {
  const auto& comm = communicator.state();
  complete_signature(call.signature, CallKind::nonblocking, *comm, options);
  const auto& plan = plan_for(*comm, call.signature);
  const auto timeout = timeout_of(*comm, options);
  std::shared_ptr<Execution> execution;
  if (plan->backend == Backend::shm)
    execution = std::make_shared<ShmExecution>(comm, plan, std::move(call.binding), ShmExecution::ordered, timeout);
  else if (plan->backend == Backend::native)
    execution = std::make_shared<NativeExecution>(comm, plan, std::move(call.binding), timeout);
  else
    execution = std::make_shared<ScheduleExecution>(comm, plan, std::move(call.binding), comm->next_tag(), timeout);
  return ProgressEngine::instance().launch(std::move(execution));
}

Request prepare(const Communicator& communicator, Call call, const Options& options) {
  const auto& comm = communicator.state();
  complete_signature(call.signature, CallKind::persistent, *comm, options);
  auto plan = plan_for(*comm, call.signature);
  if (plan->backend == Backend::shm) {
    const int cell = comm->arena->acquire_persistent(comm->collective);
    if (cell >= 0)
      return Request(
          std::make_shared<ShmExecution>(comm, plan, std::move(call.binding), cell, timeout_of(*comm, options)));
    // More persistent operations than cells: this one goes over messages.
    call.signature.algorithm = "mpi";
    plan = plan_for(*comm, call.signature);
  }
  return Request(std::make_shared<ScheduleExecution>(comm, plan, std::move(call.binding), comm->next_persistent_tag(),
                                                     timeout_of(*comm, options)));
}

}  // namespace tutti::detail
