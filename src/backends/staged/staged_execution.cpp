// SPDX-License-Identifier: BSD-3-Clause
#include "backends/staged/staged_execution.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <mutex>

#include "backends/device/retired.hpp"
#include "backends/device/work_stream.hpp"
#include "backends/staged/host_pieces.hpp"
#include "backends/staged/pieces.hpp"
#include "call/context.hpp"
#include "call/deferred_free.hpp"
#include "schedules/registry.hpp"

namespace tutti::detail {

using staged::Copy;
using staged::Staging;

namespace {

/// The number of pieces in flight at a time: one is copied while another is communicated.
constexpr std::size_t most_at_once = 2;

/// The host's copy of a piece. Its outgoing data stays unchanged until its result has left, because the copies of all
/// pieces are on one stream.
struct Slot {
  device::Block in;
  device::Block out;
  device::Event arrived;
  Staging staging;
};

struct Slots {
  std::array<Slot, most_at_once> at;
};

void copy(device::Runtime& runtime, std::byte* to, const std::byte* from, const Copy& c, bool to_host,
          device::StreamHandle stream) {
  to += to_host ? c.host : c.device;
  from += to_host ? c.device : c.host;
  if (c.rows == 1)
    runtime.copy(to, from, c.width, stream);
  else
    runtime.copy_rows(to, to_host ? c.host_pitch : c.device_pitch, from, to_host ? c.device_pitch : c.host_pitch,
                      c.width, c.rows, stream);
}

}  // namespace

struct StagedExecution::State {
  State(const std::shared_ptr<Context>& shared_comm, std::shared_ptr<const Plan> the_plan, Binding the_binding,
        const Stream& stream);

  void acquire_slots();
  void restart();
  /// Returns true once the copies of all results to the caller's buffer are queued.
  bool go_on();
  void copy_in(std::size_t piece);
  void copy_out(std::size_t piece);
  [[nodiscard]] Binding binding_of(std::size_t piece);
  [[nodiscard]] Slot& slot_of(std::size_t piece) { return slots.at[piece % most_at_once]; }
  /// The state through which other ranks wake this one when they write; null if the parts of the call are messages.
  [[nodiscard]] BackendState* peers() const { return comm.state_of(*pieces.plan().backend); }
  void open_gates() noexcept {
    for (device::Flag& gate : gates) gate.open();
    gates.clear();
  }

  [[nodiscard]] staged::Range range_of(std::size_t piece) const {
    return staged::range_of({plan->pieces, plan->part->signature.count}, plan->signature.count, piece);
  }

  const Context& comm;
  std::shared_ptr<const Plan> plan;
  Binding binding;
  Stream caller;
  WorkStream work;
  staged::HostPieces pieces;
  Slots slots;
  device::Event begun;
  device::Event done;
  std::vector<device::Flag> gates;
  std::size_t arriving = 0;  ///< all earlier pieces are copied in, or are being copied
  std::size_t begun_pieces = 0;
  std::size_t ended = 0;  ///< all earlier pieces have been communicated
  bool all_out = false;
  bool is_gated = false;  ///< the caller has returned, and its stream waits for a flag
  bool is_cancelled = false;
  bool in_use = false;                 ///< true while work on a stream may use the slots
  std::atomic<bool> for_peers{false};  ///< true while waiting only for other ranks' writes to shared memory
  std::mutex
      mutex;  ///< guards against the progress thread, which drives operations that a caller orders its stream after
};

StagedExecution::State::State(const std::shared_ptr<Context>& shared_comm, std::shared_ptr<const Plan> the_plan,
                              Binding the_binding, const Stream& stream)
    : comm(*shared_comm),
      plan(std::move(the_plan)),
      binding(std::move(the_binding)),
      caller(stream),
      work(work_stream(comm, {binding.output, binding.input})),
      pieces(shared_comm, *plan) {
  try {
    acquire_slots();
  } catch (const Error& e) {
    // This rank will never use the sequence numbers that it has taken.
    shared_comm->mark_broken(e.code(), e.what());
    throw;
  }
}

void StagedExecution::State::acquire_slots() {
  sweep_retired();
  const device::Guard guard(work.device);
  device::Pool& pool = device::Pool::of(MemoryKind::pinned, work.device);
  for (std::size_t i = 0; i < std::min(plan->pieces, most_at_once); ++i) {
    // The first pieces are the longest.
    Slot& slot = slots.at[i];
    slot.staging = staged::stage(plan->signature, binding, comm.rank, comm.size, range_of(i));
    if (slot.staging.in_bytes > 0) slot.in = pool.acquire(slot.staging.in_bytes);
    if (slot.staging.out_bytes > 0) slot.out = pool.acquire(slot.staging.out_bytes);
  }
}

void StagedExecution::State::restart() {
  arriving = begun_pieces = ended = 0;
  all_out = is_gated = is_cancelled = false;
  in_use = true;
  follow(work, caller, begun);
  while (arriving < std::min(plan->pieces, most_at_once)) copy_in(arriving++);
}

void StagedExecution::State::copy_in(std::size_t piece) {
  Slot& slot = slot_of(piece);
  slot.staging = staged::stage(plan->signature, binding, comm.rank, comm.size, range_of(piece));
  const bool shared = slot.staging.shared;
  const auto* from = static_cast<const std::byte*>(shared ? binding.output : binding.input);
  std::byte* to = shared ? slot.out.data() : slot.in.data();
  for (const Copy& c : slot.staging.in) copy(*device::runtime(), to, from, c, true, work.stream);
  slot.arrived.record(work.device, work.stream);
}

void StagedExecution::State::copy_out(std::size_t piece) {
  Slot& slot = slot_of(piece);
  auto* to = static_cast<std::byte*>(binding.output);
  for (const Copy& c : slot.staging.out) copy(*device::runtime(), to, slot.out.data(), c, false, work.stream);
}

Binding StagedExecution::State::binding_of(std::size_t piece) {
  Slot& slot = slot_of(piece);
  Binding host = slot.staging.host;
  host.input = slot.in.data();
  host.output = slot.out.data();
  return host;
}

bool StagedExecution::State::go_on() {
  if (all_out) return true;
  while (begun_pieces < arriving && slot_of(begun_pieces).arrived.is_complete()) {
    pieces.start(begun_pieces, binding_of(begun_pieces));
    ++begun_pieces;
  }
  for (std::size_t piece = ended; piece < begun_pieces; ++piece) {
    Execution* execution = pieces.find(piece);
    if (!execution->poll()) continue;
    execution->rethrow();
    if (piece != ended) continue;
    pieces.finish(piece);
    copy_out(piece);
    ++ended;
    if (arriving < plan->pieces) copy_in(arriving++);
  }
  for_peers.store(begun_pieces == arriving && peers() != nullptr, std::memory_order_relaxed);
  if (ended < plan->pieces) return false;
  for_peers.store(false, std::memory_order_relaxed);
  done.record(work.device, work.stream);
  all_out = true;
  return true;
}

bool leaves_at_once(const Plan& plan, const Stream& caller, int device) {
  return plan.signature.kind == CallKind::blocking && plan.signature.op != ReduceKind::user &&
         returns_at_once(caller, device);
}

StagedExecution::StagedExecution(std::shared_ptr<Context> comm_state, std::shared_ptr<const Plan> plan, Binding binding,
                                 Stream stream, std::chrono::nanoseconds timeout)
    : Execution(comm_state, timeout, plan->signature.kind == CallKind::persistent),
      state_(std::make_unique<State>(comm_state, std::move(plan), std::move(binding), stream)) {}

StagedExecution::~StagedExecution() {
  if (state_->in_use) retire_later(std::move(state_->done), std::move(state_->slots));
}

std::string StagedExecution::name() const {
  const std::string_view way = state_->pieces.plan().way;
  return fmt::format("{} (staged:{})", schedules::operation_name(state_->plan->signature.operation),
                     way.substr(way.find(':') + 1));
}

bool StagedExecution::begin() {
  {
    const std::lock_guard lock(state_->mutex);
    const device::Guard guard(state_->work.device);
    state_->restart();
    if (leaves_at_once(*state_->plan, state_->caller, state_->work.device)) {
      state_->is_gated = true;
      state_->gates.emplace_back().close(state_->work.device, state_->caller.handle);
    }
  }
  return step();
}

bool StagedExecution::step() {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  const device::Guard guard(s.work.device);
  if (!s.go_on()) return false;
  const bool is_ordered =
      s.plan->signature.kind == CallKind::blocking && s.caller.kind == StreamKind::cuda && !s.is_gated;
  if (is_ordered) {
    precede(s.caller, s.done);
    return true;
  }
  if (!s.done.is_complete()) return false;
  s.in_use = false;
  s.open_gates();
  return true;
}

bool StagedExecution::order_before(device::StreamHandle stream) {
  State& s = *state_;
  const device::Guard guard(s.work.device);
  const Stream waiting(StreamKind::cuda, stream);
  const auto is_out = [&] {
    if (s.is_cancelled || phase() != Phase::active || !s.all_out) return false;
    precede(waiting, s.done);
    return true;
  };
  {
    const std::lock_guard lock(s.mutex);
    if (is_out()) return true;
  }
  if (phase() != Phase::active || !returns_at_once(waiting, s.work.device)) return false;
  // Without the lock, because memory for the flag may have to wait for the progress of other operations and of this
  // one.
  device::Flag gate;
  gate.close(s.work.device, stream);
  const std::lock_guard lock(s.mutex);
  if (is_out()) return true;
  if (s.is_cancelled || phase() != Phase::active) return false;
  s.gates.push_back(std::move(gate));
  return true;
}

void StagedExecution::announce_backoff() noexcept {
  if (state_->for_peers.load(std::memory_order_relaxed)) state_->peers()->announce_backoff();
}

void StagedExecution::backoff() noexcept {
  const bool was_woken = state_->for_peers.load(std::memory_order_relaxed) && state_->peers()->backoff();
  if (!was_woken) Execution::backoff();
}

void StagedExecution::cancel() noexcept {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  s.is_cancelled = true;
  for (std::size_t piece = 0; piece < s.plan->pieces; ++piece)
    if (Execution* execution = s.pieces.find(piece)) drop_part(*execution);
  // Messages, other ranks and copies may still use the memory.
  defer_free(std::move(s.slots));
  s.slots = {};
  s.in_use = false;
  s.work.lease->keep();
  s.open_gates();
}

}  // namespace tutti::detail
