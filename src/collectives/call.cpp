// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/call.hpp"

#include <fmt/format.h>

#include <new>
#include <optional>
#include <tutti/error.hpp>

#include "backends/prepare_device.hpp"
#include "call/at_turn.hpp"
#include "call/backend.hpp"
#include "call/check.hpp"
#include "call/known_calls.hpp"
#include "call/progress.hpp"
#include "call/trial.hpp"
#include "collectives/observers.hpp"
#include "collectives/repeat.hpp"
#include "collectives/services.hpp"
#include "core/config.hpp"
#include "core/stopwatch.hpp"
#include "device/beside_captures.hpp"
#include "device/runtime.hpp"
#include "planner/calibration.hpp"
#include "planner/overrides.hpp"
#include "planner/planner.hpp"
#include "schedules/registry.hpp"

namespace tutti::detail {
namespace {

void complete(CheckedCall& call, CallKind kind, const Context& comm, const Options& options) {
  Signature& signature = call.signature;
  signature.kind = kind;
  signature.reproducible = options.reproducible || comm.options.reproducible;
  signature.has_timeout = options.timeout.count() > 0 || comm.options.timeout.count() > 0;
  signature.accumulation = accumulation_of(options.accumulation);
  const std::string_view named =
      options.algorithm.empty() ? tuning::override_for(signature.operation) : std::string_view(options.algorithm);
  if (!named.empty()) [[unlikely]]
    signature.algorithm = named;
  // Work on a stream may go on after a blocking call.
  if (kind != CallKind::blocking || signature.memory == MemoryClass::device) call.binding.keep_lists();
}

[[noreturn]] void refuse_capture(const Context& comm, const Signature& signature, std::string_view why) {
  throw Error(ErrorCode::not_supported,
              fmt::format("{}, {}: the stream is under capture, where {}; call it outside the capture",
                          operation_name(signature.operation), comm.describe(), why));
}

/// The capture that the stream takes part in; 0: none.
std::uint64_t capture_of(const Context& comm, const Signature& signature, const Stream& stream) {
  device::Runtime* runtime = device::runtime();
  if (runtime == nullptr)
    throw Error(ErrorCode::not_built,
                fmt::format("{}, {}: a buffer is in device memory, and {}", operation_name(signature.operation),
                            comm.describe(), device::no_runtime_text));
  return stream.kind == StreamKind::cuda ? runtime->capture_of(stream.handle) : 0;
}

/// In calls that may wait, ranks first agree on their facilities for device memory.
void agree_on_device(Context& comm, const CheckedCall& call, bool captured) {
  comm.check_usable();
  if (captured && !comm.device)
    refuse_capture(comm, call.signature, "a communicator that is not prepared for device memory cannot be used");
  if (comm.device && !call.is_detected) return;  // whoever declares memory knows its device
  const Binding& binding = call.binding;
  if (comm.device || call.signature.kind != CallKind::nonblocking)
    prepare_device(comm, binding.output != nullptr ? binding.output : binding.input);
}

/// The plan of a signature that has none yet: on trial if there is more than one way, and the winner after the trial.
PlanPtr new_plan(Context& comm, const Signature& signature) {
  if (!config().trials) return make_plan(signature, comm.machine());
  std::shared_ptr<Trial> trial = comm.trials.find(signature);
  if (trial && trial->winner()) return trial->winner();
  if (!trial && comm.trials.has_room()) {
    auto ways = ways_to_try(signature, comm.machine());
    if (!ways.empty()) comm.trials.add(signature, trial = std::make_shared<Trial>(std::move(ways)));
  }
  if (!trial) return make_plan(signature, comm.machine());
  auto plan = std::make_shared<Plan>(*trial->first());
  plan->trial = std::move(trial);
  return plan;
}

const PlanPtr& find_plan(Context& comm, const CheckedCall& call, CallOptions& options) {
  const bool on_device = call.signature.memory == MemoryClass::device;
  if (on_device) options.capture = capture_of(comm, call.signature, options.stream);
  const bool captured = options.capture != 0;
  if (on_device) agree_on_device(comm, call, captured);
  comm.check_usable();
  const PlanPtr& plan = comm.plans.get(call.signature, [&comm](const Signature& s) { return new_plan(comm, s); });
  if (captured && !plan->captures)
    refuse_capture(comm, call.signature, "only NCCL can run, which does not make this call here");
  return plan;
}

/// The plan of a call, valid until the next call on the communicator. Notes the capture in the options.
const PlanPtr& plan_for(Context& comm, const CheckedCall& call, CallOptions& options) {
  try {
    return find_plan(comm, call, options);
  } catch (const Error&) {
    comm.refuse_turn(flight::call_of(call.signature.operation));
    throw;
  }
}

void refuse_stalling(const Context& comm, const Plan& plan) {
  if (!comm.refuses_stalling || plan.goes_on_alone) return;
  throw services::Stalling(ErrorCode::not_supported,
                           fmt::format("{}, {}: its rounds need calls of the library on each rank",
                                       operation_name(plan.signature.operation), comm.describe()));
}

/// Makes a call that is on trial.
void run_on_trial(const ContextPtr& comm, const PlanPtr& plan, Binding&& binding, const CallOptions& options) {
  const std::shared_ptr<Trial> trial = plan->trial;
  const Stopwatch watch;
  run_plan(comm, trial->way(), std::move(binding), options);
  if (trial->note(watch.seconds())) comm->trials.await(*trial);
}

/// Replaces each time by that of the slowest rank: a call with the timeout of the one that it belongs to.
void take_slowest(const ContextPtr& comm, std::vector<double>& times, const CallOptions& options) {
  Signature signature;
  signature.operation = Operation::allreduce;
  signature.type = DatatypeKind::float64;
  signature.op = ReduceKind::max;
  signature.has_timeout = options.timeout.count() > 0;
  signature.count = times.size();
  Binding binding;
  binding.op = max;
  binding.in_place = true;
  binding.input = binding.output = times.data();
  run_plan(comm, make_plan(signature, comm->machine()), std::move(binding), {{}, options.timeout});
}

void judge(Context& comm, Trial& trial, std::span<const double> slowest) {
  trial.judge(slowest);
  if (trial.surprises()) tuning::doubt_calibration();
  if (trial.winner()) comm.plans.replace(trial.winner()->signature, trial.winner());
}

/// Judges all heats that are over, by their times on all ranks. In a call in which all ranks meet anyway: no other one
/// may make a rank wait for those that have not come.
[[gnu::noinline]] void judge_heats(const ContextPtr& comm, const CallOptions& options) {
  const std::vector<Trial*> heats = comm->trials.take_waiting();
  std::size_t rivals = 0;
  for (const Trial* trial : heats) rivals += trial->rivals();
  std::vector<double> times(rivals);
  std::size_t begin = 0;
  for (Trial* trial : heats) {
    trial->write_times(std::span(times).subspan(begin));
    begin += trial->rivals();
  }
  take_slowest(comm, times, options);
  begin = 0;
  for (Trial* trial : heats) {
    const std::span<const double> slowest = std::span(times).subspan(begin, trial->rivals());
    begin += slowest.size();
    judge(*comm, *trial, slowest);
  }
}

/// What the flight recorder writes of a call, which takes its number.
flight::Facts facts_of(Context& comm, const CheckedCall& call, const Plan& way) {
  const Signature& signature = call.signature;
  return {.bytes = bytes_of(signature, call.binding),
          .communicator = comm.flight.row(),
          .sequence = comm.flight.next_sequence(),
          .peer = has_root(signature.operation) ? signature.root : -1,
          .way = way.way_text,
          .call = flight::call_of(signature.operation),
          .form = form_of(signature.kind),
          .type = signature.operation == Operation::barrier ? std::uint8_t{0}
                                                            : static_cast<std::uint8_t>(signature.type.kind()),
          .op = combines(signature.operation) ? static_cast<std::uint8_t>(signature.op) : std::uint8_t{0}};
}

Observers observers_of(Context& comm, const CheckedCall& call, const Plan& plan) {
  const Signature& signature = call.signature;
  const Plan& way = plan.trial ? *plan.trial->way() : plan;
  Observers by;
  if (comm.summary != nullptr) [[unlikely]]
    by.count(*comm.summary, operation_name(signature.operation), signature.kind, way.way,
             bytes_of(signature, call.binding));
  by.note = noted(comm, signature.kind, [&] { return facts_of(comm, call, way); });
  if (is_traced(by.note)) [[unlikely]]
    trace_blocks(by.note, signature, call.binding, comm.size);
  if (comm.flight.has_checksums() && signature.memory == MemoryClass::host) [[unlikely]]
    by.sums = std::make_unique<Checksums>(comm, data_of(signature, call.binding, comm.rank, comm.size));
  return by;
}

void run_planned(const ContextPtr& comm, const PlanPtr& plan, Binding&& binding, const CallOptions& options) {
  const bool is_meeting = synchronises(plan->signature);
  if (plan->trial)
    run_on_trial(comm, plan, std::move(binding), options);
  else
    run_plan(comm, plan, std::move(binding), options);
  if (is_meeting && comm->trials.has_waiting()) judge_heats(comm, options);
}

}  // namespace

void trace_blocks(const flight::Note& note, const Signature& signature, const Binding& binding, int size) noexcept {
  if (!has_counts(signature.operation)) return;
  try {
    std::vector<std::uint64_t> given(static_cast<std::size_t>(size));
    std::vector<std::uint64_t> taken(given.size());
    write_block_sizes(signature, binding, given, taken);
    const trace::SlotNumber slot = note.recorder->trace_slot_of(note.number, false);
    note.recorder->log()->add_blocks(slot, false, given);
    note.recorder->log()->add_blocks(slot, true, taken);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): a call whose counts are not known
  }
}

CallOptions call_options(const Context& comm, const Options& options) {
  if (options.timeout.count() < 0)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: argument options.timeout is negative; pass 0 for no timeout", comm.describe()));
  device::refuse_per_thread(options.stream, [&] { return comm.describe(); });
  return {options.stream, options.timeout.count() > 0 ? options.timeout : comm.options.timeout};
}

namespace {

bool has_stream(const Options& options) { return options.stream.kind != StreamKind::none; }

/// For check mode: no outstanding call may use the memory of a new one. Tells the other ranks if it is refused.
void refuse_overlap(Context& comm, const CheckedCall& call, const BufferUses& uses) {
  if (!has_outstanding_calls()) return;
  CallRecord record;
  record.facts = facts_of(call.signature, call.binding, false);
  require_free(comm, uses, call_words(record), [&] { comm.refuse(record.facts.call); });
}

/// The memory that a call uses; of a call whose buffers have layouts none, because it uses copies.
BufferUses uses_of(const Context& comm, const CheckedCall& call) {
  return call.packing ? BufferUses{} : uses_of(call.signature, call.binding, comm.rank, comm.size);
}

/// Gives a call a shadow of its receive buffer, if it does not also read it.
ReceiveShadows shadow_output(const Context& comm, const BufferUses& uses, Binding& binding) {
  ReceiveShadows shadows;
  if (binding.in_place) return shadows;
  auto shadow = ReceiveShadow::of(uses.written, comm.check->all_bytes());
  if (!shadow) return shadows;
  binding.output = shadow->place_of(binding.output);
  shadows.push_back(std::move(shadow));
  return shadows;
}

/// A blocking call in check mode, before it moves data.
[[gnu::noinline]] void check_blocking(Context& comm, const CheckedCall& call, const Options& options,
                                      const CallOptions& own) {
  comm.check_usable();
  if (has_outstanding_calls()) refuse_overlap(comm, call, uses_of(comm, call));
  comm.check->meet(call.signature, call.binding, has_stream(options), own.timeout);
}

/// A nonblocking or persistent call in check mode, which tells the others of it.
[[gnu::noinline]] Watch watch_call(Context& comm, CheckedCall& call, const Options& options) {
  comm.check_usable();
  BufferUses uses = uses_of(comm, call);
  refuse_overlap(comm, call, uses);
  const std::uint64_t number = comm.check->note(call.signature, call.binding, has_stream(options));
  ReceiveShadows shadows = shadow_output(comm, uses, call.binding);
  return watch_of(comm, number, std::move(uses), std::move(shadows));
}

/// A blocking call whose buffers have layouts. After a failure other ranks may still use the copies.
void run_packed(const Communicator& comm, CheckedCall&& call, const Options& options) {
  const std::unique_ptr<Packing> packing = std::move(call.packing);
  packing->pack();
  try {
    run(comm, std::move(call), options);
  } catch (...) {
    packing->give_up();
    throw;
  }
  packing->unpack();
}

/// The execution of a nonblocking or persistent call, not yet started.
std::shared_ptr<Execution> make_call(const Communicator& communicator, CheckedCall&& call, CallKind kind,
                                     const Options& options) {
  const ContextPtr& comm = communicator.state();
  complete(call, kind, *comm, options);
  CallOptions own = call_options(*comm, options);
  std::optional<Watch> watch;
  if (comm->check != nullptr) [[unlikely]]
    watch = watch_call(*comm, call, options);
  const PlanPtr& plan = plan_for(*comm, call, own);
  if (kind == CallKind::nonblocking) refuse_stalling(*comm, *plan);
  return make_observed(comm, kind, observers_of(*comm, call, *plan), std::move(watch), [&](const auto& summed) {
    auto execution = summed(make_execution(comm, plan, std::move(call.binding), own));
    if (call.packing)
      execution = std::make_shared<PackedExecution>(comm, std::move(execution), std::move(call.packing));
    return execution;
  });
}

void run_call(const ContextPtr& comm, CheckedCall&& call, const Options& options, const Repeatable* made) {
  complete(call, CallKind::blocking, *comm, options);
  CallOptions own = call_options(*comm, options);
  if (comm->check != nullptr) [[unlikely]]
    check_blocking(*comm, call, options, own);
  const PlanPtr& plan = plan_for(*comm, call, own);
  const Observers by = observers_of(*comm, call, *plan);
  Observed observed(by);
  if (made != nullptr) made->keep(*comm, call, plan, by.note);
  run_planned(comm, plan, std::move(call.binding), own);
  observed.succeed();
}

Request start_call(const Communicator& communicator, CheckedCall&& call, const Options& options,
                   const Repeatable* made) {
  const ContextPtr& comm = communicator.state();
  if (call.packing || comm->check != nullptr || comm->flight.has_checksums()) [[unlikely]]
    return ProgressEngine::instance().launch(make_call(communicator, std::move(call), CallKind::nonblocking, options));
  complete(call, CallKind::nonblocking, *comm, options);
  CallOptions own = call_options(*comm, options);
  const PlanPtr& plan = plan_for(*comm, call, own);
  refuse_stalling(*comm, *plan);
  const Observers by = observers_of(*comm, call, *plan);
  Observed observed(by);
  own.note = by.note;
  if (made != nullptr) made->keep(*comm, call, plan, own.note);
  Request request = start_plan(comm, plan, std::move(call.binding), own);
  observed.hand_over();
  return request;
}

}  // namespace

void run(const Communicator& comm, CheckedCall&& call, const Options& options, const Repeatable* made) {
  if (call.packing) [[unlikely]]
    return run_packed(comm, std::move(call), options);
  make_or_break(*comm.state(), operation_name(call.signature.operation),
                [&] { run_call(comm.state(), std::move(call), options, made); });
}

Request start(const Communicator& comm, CheckedCall&& call, const Options& options, const Repeatable* made) {
  return make_or_break(*comm.state(), operation_name(call.signature.operation),
                       [&] { return start_call(comm, std::move(call), options, made); });
}

Request prepare(const Communicator& comm, CheckedCall&& call, const Options& options) {
  return make_or_break(*comm.state(), operation_name(call.signature.operation),
                       [&] { return Request(make_call(comm, std::move(call), CallKind::persistent, options)); });
}

}  // namespace tutti::detail
