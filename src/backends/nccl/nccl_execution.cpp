// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/nccl_execution.hpp"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "backends/device/kernel_streams.hpp"
#include "backends/device/retired.hpp"
#include "backends/nccl/state.hpp"
#include "call/context.hpp"
#include "call/deferred_free.hpp"
#include "call/schedule_rules.hpp"
#include "device/traffic.hpp"

namespace tutti::detail {

using device::StreamHandle;

namespace {

device::Runtime& runtime() { return device::required_runtime("NCCL"); }

nccl::State& state_of(const Context& comm) {
  if (nccl::State* state = nccl::state_of(comm)) return *state;
  throw Error(ErrorCode::internal, "the communicator has no NCCL communicator");
}

}  // namespace

NcclExecution::NcclExecution(std::shared_ptr<Context> comm_state, std::shared_ptr<const Plan> plan, Binding binding,
                             Stream stream, std::chrono::nanoseconds timeout)
    : Execution(std::move(comm_state), timeout, plan->signature.kind == CallKind::persistent),
      plan_(std::move(plan)),
      binding_(std::move(binding)),
      stream_(stream),
      patience_(timeout) {
  if (plan_->algorithm != nullptr) schedule_ = bound_schedule(comm(), *plan_, binding_);
}

NcclExecution::~NcclExecution() { leave_blocks(); }

std::string NcclExecution::name() const {
  const std::string_view way = plan_->algorithm != nullptr ? plan_->algorithm->name : "direct";
  return fmt::format("{} (nccl:{})", schedules::operation_name(plan_->signature.operation), way);
}

bool NcclExecution::runs_on_callers() const {
  return plan_->signature.kind == CallKind::blocking && stream_.kind == StreamKind::cuda;
}

bool NcclExecution::needs_kernels() const { return schedule_ && schedules::combines(plan_->signature.operation); }

bool NcclExecution::begin() {
  is_under_way_ = true;
  try {
    nccl::Comm& nccl_comm = state_of(comm()).comm();
    const device::Guard guard(nccl_comm.device());
    nccl_comm.check_async();
    const StreamHandle stream = enter_stream();
    launch(acquire(stream), stream);
    if (capture_ == 0) nccl::Comm::collect();
    if (!runs_on_callers() || buffers_.holds_blocks()) after_.record(nccl_comm.device(), stream);
  } catch (const Error& e) {
    rethrow_named(e);
  }
  return runs_on_callers() || capture_ != 0;
}

/// The stream for the work, ordered after the caller's stream.
StreamHandle NcclExecution::enter_stream() {
  const DeviceSide& side = *comm().device;
  const StreamHandle stream = runs_on_callers() ? stream_.handle : side.stream;
  capture_ = stream_.kind == StreamKind::cuda ? runtime().capture_of(stream_.handle) : 0;
  if (const std::uint64_t own = runtime().capture_of(stream); own != 0 && own != capture_)
    refuse_capture(
        "the communicator's own stream is part of the capture of an earlier request; end that capture first");
  if (needs_kernels() && capture_ == 0) prepare_kernels(side.device, stream);
  if (needs_kernels() && !has_kernels_prepared(side.device, stream))
    refuse_capture(
        "this operation's kernels allocate memory at their first use of a stream; make the call once before the "
        "capture");
  if (!runs_on_callers() && stream_.kind == StreamKind::cuda) {
    before_.record(side.device, stream_.handle);
    runtime().wait_event(stream, before_.handle());
  }
  return stream;
}

/// The error is the same on all ranks and nothing has begun, so the communicator stays usable.
void NcclExecution::refuse_capture(const char* why) {
  is_under_way_ = false;
  throw Error(ErrorCode::not_supported, std::string("capture: ") + why);
}

/// A graph has its own buffers, because it may run concurrently with other runs of a persistent operation.
DeviceBuffers& NcclExecution::acquire(StreamHandle stream) {
  if (capture_ != 0) {
    auto buffers = std::make_unique<DeviceBuffers>();
    acquire_into(*buffers);
    return retain_by_graph(std::move(buffers), stream);
  }
  sweep_retired();
  if (!buffers_.is_acquired()) acquire_into(buffers_);
  return buffers_;
}

void NcclExecution::acquire_into(DeviceBuffers& buffers) const {
  const Context& c = comm();
  const Operation operation = plan_->signature.operation;
  if (schedule_) {
    buffers.acquire(*plan_, *schedule_, binding_, c.rank, c.size, c.device->device);
    buffers.acquire_signals(nccl::signal_bytes(*schedule_, operation));
  } else {
    buffers.acquire_direct(*plan_, binding_, c.rank, c.size, c.device->device,
                           nccl::saves_input(plan_->signature, binding_));
    buffers.acquire_signals(operation == Operation::barrier ? 1 : 0);
  }
}

void NcclExecution::launch(DeviceBuffers& buffers, StreamHandle stream) {
  const Context& c = comm();
  const nccl::State& state = state_of(c);
  nccl::Comm& nccl_comm = state.comm();
  const std::lock_guard lock(device::Traffic::of(c.device->device).launch_mutex());
  // Later versions order their launches themselves (NCCL_LAUNCH_ORDER_IMPLICIT, set with the table).
  if (capture_ == 0 && nccl_comm.table().version < nccl::version_of_launch_order)
    device::Traffic::of(c.device->device).follow(stream);
  if (capture_ != 0) {
    nccl_comm.retain_by_graph(stream);
  } else if (state.registers()) {
    nccl_comm.use_registered(binding_.input);
    nccl_comm.use_registered(binding_.output);
  }
  const nccl::Launch launch{nccl_comm, c.rank, c.size, stream, patience_, capture_ != 0, *plan_, binding_, buffers};
  if (schedule_)
    nccl::launch_schedule(launch, *schedule_);
  else
    nccl::launch_direct(launch);
}

bool NcclExecution::step() {
  try {
    nccl::Comm& nccl_comm = state_of(comm()).comm();
    const bool is_over = after_.is_complete();
    // An abort also ends the work on the device.
    if (nccl_comm.is_aborted())
      throw Error(ErrorCode::aborted, "the failure of another operation aborted NCCL before this operation had ended");
    if (is_over) return true;
    nccl_comm.check_async();
  } catch (const Error& e) {
    rethrow_named(e);
  }
  return false;
}

void NcclExecution::cancel() noexcept {
  if (!is_under_way_) return;
  if (nccl::State* state = nccl::state_of(comm())) state->abort();
  // The progress of the device is unknown now.
  if (buffers_.holds_blocks()) defer_free(std::exchange(buffers_, {}));
}

bool NcclExecution::order_before(StreamHandle stream) {
  const bool is_under_way = phase() == Phase::active || (capture_ != 0 && phase() == Phase::done);
  if (!after_.is_recorded() || !is_under_way) return false;
  const device::Guard guard(state_of(comm()).comm().device());
  if (runtime().capture_of(stream) != capture_)
    throw Error(
        ErrorCode::not_supported,
        fmt::format(
            "{}, {}: wait(stream) must be in the capture in which the operation was started, or outside any capture",
            name(), comm().describe()));
  runtime().wait_event(stream, after_.handle());
  return true;
}

/// If a persistent operation was last captured, all work on its own buffers is over.
void NcclExecution::leave_blocks() noexcept {
  if (buffers_.holds_blocks() && capture_ == 0) retire_later(std::move(after_), std::exchange(buffers_, {}));
}

void NcclExecution::rethrow_named(const Error& error) const {
  throw Error(error.code(), fmt::format("{}, {}: {}", name(), comm().describe(), error.what()));
}

}  // namespace tutti::detail
