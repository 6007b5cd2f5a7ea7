// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/repeat.hpp"

#include <mpi.h>

#include <new>

#include "call/check.hpp"
#include "call/known_calls.hpp"
#include "call/summary.hpp"
#include "collectives/overlap.hpp"
#include "device/runtime.hpp"

namespace tutti::detail {
namespace {

/// Notes a call as one that was kept, which takes its number.
CallOptions options_of(Context& comm, const Repeats::Entry& entry, flight::State state) {
  CallOptions options;
  options.timeout = comm.options.timeout;
  flight::Recorder* recorder = comm.flight.recorder();
  if (recorder == nullptr) return options;
  options.note = {recorder, recorder->begin_again(entry.facts, comm.flight.next_sequence(), state)};
  if (is_traced(options.note)) [[unlikely]]
    trace_blocks(options.note, entry.plan->signature, entry.binding, comm.size);
  return options;
}

bool is_address(const void* address, std::size_t count) {
  return address != MPI_IN_PLACE && (address != nullptr || count == 0);
}

/// Apart, so that calls without counts do not pay for it.
[[gnu::noinline]] void take_lists(Binding& binding, const Binding& kept) { binding = kept; }

std::ptrdiff_t distance(const void* from, const void* to) {
  return static_cast<const std::byte*>(to) - static_cast<const std::byte*>(from);
}

}  // namespace

bool Repeatable::is_plain() const noexcept {
  // All by name: a further option does not compile before it has its place here.
  const auto& [stream, memory, timeout, algorithm, reproducible, accumulation] = options_;
  return timeout.count() == 0 && algorithm.empty() && stream.kind == StreamKind::none && !reproducible &&
         accumulation == Accumulation::full && !has_layout_;
}

bool Repeatable::may_be_repeated(const Context& comm, const CheckedCall& call, const Plan& plan) const noexcept {
  const bool has_own_function = op_.kind() == ReduceKind::user || op_.kind() == ReduceKind::premul_sum;
  const bool is_in_place = send_in_place_ || recv_in_place_;
  return is_plain() && !has_own_function && !call.packing && call.signature.memory == MemoryClass::host &&
         call.binding.in_place == is_in_place && !plan.trial && comm.check == nullptr && comm.summary == nullptr &&
         !comm.flight.has_checksums();
}

Repeats::Entry Repeatable::entry_of(const CheckedCall& call, const PlanPtr& plan, const flight::Note& note) const {
  Repeats::Entry entry{.arguments = arguments_, .plan = plan, .binding = call.binding};
  entry.binding.keep_lists();
  entry.binding.input = entry.binding.output = nullptr;
  if (note.recorder != nullptr) entry.facts = note.recorder->facts_of(note.number);
  entry.has_input = !send_in_place_ && call.binding.input != nullptr;
  entry.has_output = !recv_in_place_ && call.binding.output != nullptr;
  if (send_in_place_) entry.own = distance(recv_, call.binding.input);
  if (recv_in_place_) entry.own = distance(send_, call.binding.output);
  return entry;
}

void Repeatable::keep(Context& comm, const CheckedCall& call, const PlanPtr& plan,
                      const flight::Note& note) const noexcept {
  if (!may_be_repeated(comm, call, *plan)) return;
  try {
    if (comm.repeats.wants(arguments_)) comm.repeats.keep(entry_of(call, plan, note));
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the next one goes the whole way, too
  }
}

/// A declared memory kind is part of the key, so only detected buffers are looked up.
bool Repeatable::is_on_host(const Repeats::Entry& entry) const {
  const MemoryKind of_call = options_.memory;
  return device::runtime() == nullptr || of_call != MemoryKind::detect ||
         ((!entry.has_input || !is_of_device(MemoryKind::detect, of_call, send_)) &&
          (!entry.has_output || !is_of_device(MemoryKind::detect, of_call, recv_)));
}

bool Repeatable::fits(const Repeats::Entry& entry) const {
  const CallArguments& a = arguments_;
  if (entry.has_input && !is_address(send_, a.send_count)) return false;
  if (entry.has_output && !is_address(recv_, a.recv_count)) return false;
  const bool may_meet = entry.has_input && entry.has_output;
  return is_on_host(entry) && (!may_meet || !overlap({send_, a.send_count}, {recv_, a.recv_count}, a.recv_unit));
}

Binding Repeatable::bind(const Repeats::Entry& entry) const {
  Binding binding;
  if (lists_ != nullptr) [[unlikely]]
    take_lists(binding, entry.binding);
  binding.op = op_;
  binding.in_place = send_in_place_ || recv_in_place_;
  if (entry.has_input) binding.input = send_;
  if (entry.has_output) binding.output = recv_;
  if (send_in_place_) binding.input = static_cast<const std::byte*>(recv_) + entry.own;
  if (recv_in_place_)  // the block stays in place: nothing is written to the caller's constant buffer
    binding.output = const_cast<std::byte*>(static_cast<const std::byte*>(send_) + entry.own);  // NOLINT(*-const-cast)
  return binding;
}

// Calls in which all ranks meet judge the heats that wait.
const Repeats::Entry* Repeatable::found_in(const Context& comm) const {
  const Repeats& repeats = comm.repeats;
  const Repeats::Entry* entry = lists_ == nullptr ? repeats.find(arguments_) : repeats.find(arguments_, *lists_);
  if (entry == nullptr || !is_plain() || !comm.is_usable() || !fits(*entry)) return nullptr;
  return !comm.trials.has_waiting() || !synchronises(entry->plan->signature) ? entry : nullptr;
}

void Repeatable::run_again(const Communicator& communicator, const Repeats::Entry& entry) const {
  const ContextPtr& comm = communicator.state();
  const CallOptions options = options_of(*comm, entry, flight::State::running);
  flight::Recording recording(options.note);
  const Repeats::Hold hold(comm->repeats);
  run_plan(comm, entry.plan, bind(entry), options);
  recording.succeed();
}

// The request is made where the caller has it: the load of a move would wait for the stores of its parts, which are
// behind those to lines that other ranks poll.
Request Repeatable::start_again(const Communicator& communicator, const Repeats::Entry& entry) const {
  const ContextPtr& comm = communicator.state();
  const CallOptions options = options_of(*comm, entry, flight::State::outstanding);
  flight::Recording recording(options.note);
  const Repeats::Hold hold(comm->repeats);
  Request request = start_plan(comm, entry.plan, bind(entry), options);
  recording.hand_over();
  return request;
}

}  // namespace tutti::detail
