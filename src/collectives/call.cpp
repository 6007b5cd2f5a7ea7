// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/call.hpp"

#include <fmt/format.h>

#include <tutti/error.hpp>

#include "backends/mpi/device_schedule_execution.hpp"
#include "backends/mpi/schedule_execution.hpp"
#include "backends/native/native_execution.hpp"
#include "backends/nccl/nccl_execution.hpp"
#include "backends/shm/shm_execution.hpp"
#include "backends/staged/staged_execution.hpp"
#include "backends/staged/work_stream.hpp"
#include "call/progress.hpp"
#include "planner/overrides.hpp"
#include "planner/planner.hpp"
#include "schedules/registry.hpp"

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
  return comm.plans.get(signature, [&comm](const Signature& s) { return make_plan(s, machine_of(comm)); });
}

[[noreturn]] void refuse_capture(const CommState& comm, const Signature& signature, std::string_view why) {
  throw Error(ErrorCode::not_supported,
              fmt::format("{}, {}: the stream is under capture, where {}; call it outside the capture",
                          schedules::operation_name(signature.operation), comm.describe(), why));
}

/// The plan of a call on device memory. Ranks agree on what they have for it in calls that may wait.
std::shared_ptr<const Plan> device_plan(CommState& comm, const Call& call, const Stream& stream) {
  const Signature& signature = call.signature;
  device::Runtime* runtime = device::runtime();
  if (runtime == nullptr)
    throw Error(ErrorCode::not_built,
                fmt::format("{}, {}: a buffer is in device memory, and this library was built without CUDA; build it "
                            "with TUTTI_ENABLE_CUDA=ON, or copy the buffer to host memory",
                            schedules::operation_name(signature.operation), comm.describe()));
  comm.check_usable();
  const bool is_captured = stream.kind == StreamKind::cuda && runtime->capture_of(stream.handle) != 0;
  if (is_captured && !comm.device)
    refuse_capture(comm, signature, "a communicator that is not prepared for device memory cannot be used");
  const void* address = call.binding.output != nullptr ? call.binding.output : call.binding.input;
  if (comm.device || signature.kind != CallKind::nonblocking) prepare_device(comm, address);
  const auto& plan = plan_for(comm, signature);
  if (is_captured && plan->backend != Backend::nccl)
    refuse_capture(comm, signature, "only NCCL can run, which does not make this call here");
  return plan;
}

std::shared_ptr<Execution> device_execution(const std::shared_ptr<CommState>& comm, std::shared_ptr<const Plan> plan,
                                            Binding binding, const Options& options) {
  const auto timeout = timeout_of(*comm, options);
  if (plan->backend == Backend::nccl)
    return std::make_shared<NcclExecution>(comm, std::move(plan), std::move(binding), options.stream, timeout);
  if (plan->backend == Backend::staged)
    return std::make_shared<StagedExecution>(comm, std::move(plan), std::move(binding), options.stream, timeout);
  const int tag = plan->signature.kind == CallKind::persistent ? comm->next_persistent_tag() : comm->next_tag();
  return std::make_shared<DeviceScheduleExecution>(comm, std::move(plan), std::move(binding), tag, options.stream,
                                                   timeout);
}

void run_on_device(const std::shared_ptr<CommState>& comm, Call call, const Options& options) {
  auto plan = device_plan(*comm, call, options.stream);
  // Then the stream waits for a flag, and the progress engine has the rest.
  const bool is_detached = leaves_at_once(*plan, options.stream, comm->device->device);
  const auto execution = device_execution(comm, std::move(plan), std::move(call.binding), options);
  if (!is_detached) return run_to_end(*execution);
  (void)ProgressEngine::instance().launch(execution);
  if (execution->finished()) execution->rethrow();
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
  if (call.signature.memory == MemoryClass::device) return run_on_device(comm, std::move(call), options);
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
  if (call.signature.memory == MemoryClass::device) {
    auto made = device_plan(*comm, call, options.stream);
    return ProgressEngine::instance().launch(device_execution(comm, std::move(made), std::move(call.binding), options));
  }
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
  if (call.signature.memory == MemoryClass::device) {
    auto made = device_plan(*comm, call, options.stream);
    return Request(device_execution(comm, std::move(made), std::move(call.binding), options));
  }
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
