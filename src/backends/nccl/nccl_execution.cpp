// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/nccl_execution.hpp"

#include <fmt/format.h>

#include <utility>

#include "backends/device/retired.hpp"
#include "backends/nccl/state.hpp"
#include "call/context.hpp"
#include "call/deferred_free.hpp"
#include "call/schedule_rules.hpp"

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
                             Stream stream, std::chrono::nanoseconds timeout, std::optional<std::uint64_t> capture,
                             std::shared_ptr<const nccl::Puts> puts)
    : Execution(std::move(comm_state), timeout, plan->signature.kind == CallKind::persistent),
      plan_(std::move(plan)),
      binding_(std::move(binding)),
      stream_(stream),
      patience_(timeout),
      puts_(std::move(puts)) {
  if (plan_->signature.kind != CallKind::persistent) known_capture_ = capture;
  if (plan_->algorithm != nullptr) schedule_ = bound_schedule(comm(), *plan_, binding_);
}

NcclExecution::~NcclExecution() { leave_blocks(); }

std::string NcclExecution::name() const { return nccl::name_of(*plan_); }

bool NcclExecution::runs_on_callers() const {
  return plan_->signature.kind == CallKind::blocking && stream_.kind == StreamKind::cuda;
}

bool NcclExecution::needs_kernels() const {
  return nccl::is_wide(*plan_) || (schedule_ && tutti::combines(plan_->signature.operation));
}

bool NcclExecution::begin() {
  is_under_way_ = true;
  try {
    nccl::Comm& nccl_comm = state_of(comm()).comm();
    const device::Guard guard(nccl_comm.device());
    nccl_comm.check_async();
    const StreamHandle stream = enter_stream();
    DeviceBuffers& buffers = acquire(stream);
    if (capture_ == 0 && runs_on_callers() && patience_.count() > 0)
      begun_ = device::recorded(nccl_comm.device(), stream);
    if (may_launch_later())
      start_launch(buffers, stream);
    else
      launch(buffers, stream);
    if (capture_ == 0) nccl::Comm::collect();
    if (capture_ == 0 && runs_on_callers() && after_ != nullptr) watch(stream);
  } catch (const Error& e) {
    rethrow_named(e);
  }
  return runs_on_callers() || capture_ != 0;
}

/// The stream for the work, ordered after the caller's stream.
StreamHandle NcclExecution::enter_stream() {
  const DeviceSide& side = *comm().device;
  const StreamHandle stream = runs_on_callers() ? stream_.handle : side.stream;
  look_for_capture(stream);
  if (capture_ != 0 && puts_)
    refuse_capture("puts are counted in the order of their starts, which graphs need not keep; make another request");
  if (needs_kernels()) load_kernels(stream);
  if (!runs_on_callers() && stream_.kind == StreamKind::cuda) {
    comm().device->capture = capture_;
    before_.record(side.device, stream_.handle);
    // A launch that comes later waits then, not with the work of earlier calls that are launched before it.
    if (!may_launch_later()) runtime().wait_event(stream, before_.handle());
  }
  return stream;
}

void NcclExecution::look_for_capture(StreamHandle stream) {
  DeviceSide& side = *comm().device;
  if (stream_.kind != StreamKind::cuda)
    capture_ = 0;
  else
    capture_ = known_capture_ ? *known_capture_ : runtime().capture_of(stream_.handle);
  known_capture_.reset();
  // Only calls of this class put the communicator's own stream into a capture.
  if (stream != side.stream || side.capture == 0) return;
  side.capture = runtime().capture_of(stream);
  if (side.capture != 0 && side.capture != capture_)
    refuse_capture(
        "the communicator's own stream is part of the capture of an earlier request; end that capture first");
}

/// A refusal of the capture is the same on all ranks, and nothing has begun.
void NcclExecution::load_kernels(StreamHandle stream) {
  is_under_way_ = capture_ == 0;
  if (nccl::is_wide(*plan_))
    nccl::load_wide_kernels(plan_->signature, comm().size, stream);
  else
    DeviceBuffers::load_kernels(*plan_, binding_, comm().size, stream);
  is_under_way_ = true;
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
    if (nccl::is_wide(*plan_)) buffers.acquire_scratch(nccl::wide_bytes(plan_->signature, c.size));
    buffers.acquire_signals(operation == Operation::barrier ? 1 : 0);
  }
}

/// Among the collectives of the communicator, as the flight recorder has it: of a request its own, else the last one.
std::uint32_t NcclExecution::number() const noexcept {
  const std::uint32_t own = note().sequence();
  return own != 0 ? own : comm().flight.sequence();
}

nccl::Launch NcclExecution::launch_of(DeviceBuffers& buffers, StreamHandle stream) const {
  const Context& c = comm();
  const nccl::CallConfig config = nccl::config_of(*plan_, number());
  return {state_of(c).comm(), c.rank, c.size, stream, *plan_, binding_, buffers, config, puts_.get()};
}

void NcclExecution::launch(DeviceBuffers& buffers, StreamHandle stream) {
  launching_ = nullptr;
  after_ = nullptr;
  nccl::Launching launching(state_of(comm()), launch_of(buffers, stream), schedule_.get(), patience_);
  try {
    launching.run(capture_ != 0);
  } catch (...) {
    after_ = launching.done();
    throw;
  }
  after_ = launching.done();
  if (after_ == nullptr && (!runs_on_callers() || buffers_.holds_blocks()))
    after_ = device::recorded(comm().device->device, stream);
}

void NcclExecution::start_launch(DeviceBuffers& buffers, StreamHandle stream) {
  launching_ =
      std::make_shared<nccl::Launching>(state_of(comm()), launch_of(buffers, stream), schedule_.get(), patience_);
  nccl::Launching::start(launching_, stream_.kind == StreamKind::cuda ? &before_ : nullptr);
  if (launching_->is_over()) launching_->rethrow();
}

/// Null before the end of the first launch.
const std::shared_ptr<const device::Event>& NcclExecution::after() const noexcept {
  return launching_ != nullptr ? launching_->done() : after_;
}

void NcclExecution::watch(StreamHandle stream) {
  nccl::StreamWatch& watch = state_of(comm()).watch();
  if (begun_ == nullptr)
    watch.add(stream);
  else
    watch.add(stream, {plan_, std::move(begun_), after_, patience_, {}});
}

bool NcclExecution::step() {
  try {
    nccl::Comm& nccl_comm = state_of(comm()).comm();
    if (!has_launched()) return false;
    const bool is_over = after()->is_complete();
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

/// Takes a step of the launch. Throws its failure.
bool NcclExecution::has_launched() const {
  if (launching_ == nullptr) return true;
  if (!launching_->is_over()) nccl::Launching::step_all();
  if (!launching_->is_over()) return false;
  launching_->rethrow();
  return true;
}

void NcclExecution::cancel() noexcept {
  if (!is_under_way_) return;
  if (nccl::State* state = nccl::state_of(comm())) state->abort();
  if (launching_) nccl::Launching::withdraw(launching_);
  comm().tell_of_failure();  // their work waits for this rank's
  // The progress of the device is unknown now.
  if (buffers_.holds_blocks()) defer_free(std::exchange(buffers_, {}));
}

bool NcclExecution::order_before(StreamHandle stream) {
  const bool is_under_way = phase() == Phase::active || (capture_ != 0 && phase() == Phase::done);
  const bool is_launched = launching_ == nullptr || launching_->is_over();
  if (!is_under_way || !is_launched || after() == nullptr) return false;
  const device::Guard guard(state_of(comm()).comm().device());
  if (runtime().capture_of(stream) != capture_)
    throw Error(
        ErrorCode::not_supported,
        fmt::format(
            "{}, {}: wait(stream) must be in the capture in which the operation was started, or outside any capture",
            name(), comm().describe()));
  runtime().wait_event(stream, after()->handle());
  return true;
}

/// If a persistent operation was last captured, all work on its own buffers is over.
void NcclExecution::leave_blocks() noexcept {
  if (!buffers_.holds_blocks() || capture_ != 0) return;
  if (after() == nullptr)
    defer_free(std::exchange(buffers_, {}));  // a start has failed
  else
    retire_later(after(), std::exchange(buffers_, {}));
}

/// A refusal of the algorithm, on a communicator that blocks, leaves NCCL as it was before the call.
void NcclExecution::rethrow_named(const Error& error) {
  const bool is_refusal = error.code() == ErrorCode::invalid_algorithm;
  if (is_refusal && state_of(comm()).comm().is_blocking()) is_under_way_ = false;
  throw Error(error.code(), fmt::format("{}, {}: {}", name(), comm().describe(), error.what()));
}

}  // namespace tutti::detail
