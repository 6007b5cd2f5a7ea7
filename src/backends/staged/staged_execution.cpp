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
#include "call/at_turn.hpp"
#include "call/context.hpp"
#include "call/deferred_free.hpp"
#include "schedules/registry.hpp"

namespace tutti::detail {

using staged::Copy;
using staged::Staging;

namespace {

/// The number of pieces in flight at a time: one is copied while another is communicated.
constexpr std::size_t most_at_once = 2;

/// The host's copy of a piece.
struct Slot {
  device::Block in;
  device::Block out;
};

/// What work on the streams uses.
struct Slots {
  std::array<Slot, most_at_once> at;
  std::vector<device::Event> arrived;  ///< of each piece: its input is in the slot
  std::vector<device::Event> left;     ///< of each piece: its result has left the slot
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
        const Stream& stream, std::chrono::nanoseconds timeout);

  void acquire_slots();
  void restart();
  void enqueue_all();
  /// Returns true once the copies of all results to the caller's buffer are queued.
  bool go_on();
  [[nodiscard]] bool may_begin(std::size_t piece) const;
  void end_piece();
  void copy_in(std::size_t piece);
  void copy_out(std::size_t piece);
  [[nodiscard]] Binding binding_of(std::size_t piece);
  [[nodiscard]] Slot& slot_of(std::size_t piece) { return slots.at[piece % most_at_once]; }
  /// The state through which other ranks wake this one when they write; null if the parts of the call are messages.
  [[nodiscard]] BackendState* peers() const { return comm.state_of(*pieces.plan().backend); }

  [[nodiscard]] staged::ElementRange range_of(std::size_t piece) const {
    return staged::range_of({plan->pieces, plan->part->signature.count}, plan->signature.count, piece);
  }

  const Context& comm;
  std::shared_ptr<const Plan> plan;
  Binding binding;
  Stream caller;
  WorkStream to_host;  ///< the two directions of a bus carry data at the same time
  WorkStream to_device;
  staged::HostPieces pieces;
  std::vector<Staging> stagings;  ///< of each piece
  Slots slots;
  device::Event begun;
  device::Event done;
  device::Flag gate;         ///< raised to the number of pieces that have been communicated
  std::size_t arriving = 0;  ///< all earlier pieces are copied in, or are being copied
  std::size_t begun_pieces = 0;
  std::size_t ended = 0;  ///< all earlier pieces have been communicated
  bool all_out = false;
  bool is_enqueued = false;  ///< all copies are on the streams, which wait at the gate
  bool is_cancelled = false;
  bool in_use = false;                 ///< true while work on a stream may use the slots
  std::atomic<bool> for_peers{false};  ///< true while waiting only for other ranks' writes to shared memory
  std::mutex
      mutex;  ///< guards against the progress thread, which drives operations that a caller orders its stream after
};

StagedExecution::State::State(const std::shared_ptr<Context>& shared_comm, std::shared_ptr<const Plan> the_plan,
                              Binding the_binding, const Stream& stream, std::chrono::nanoseconds timeout)
    : comm(*shared_comm),
      plan(std::move(the_plan)),
      binding(std::move(the_binding)),
      caller(stream),
      to_host(work_stream(comm, {binding.output, binding.input})),
      to_device(stream_beside(to_host)),
      pieces(shared_comm, *plan, timeout) {
  for (std::size_t i = 0; i < plan->pieces; ++i)
    stagings.push_back(staged::stage(plan->signature, binding, comm.rank, comm.size, range_of(i)));
  acquire_slots();
}

void StagedExecution::State::acquire_slots() {
  sweep_retired();
  const device::Guard guard(to_host.device);
  device::Pool& pool = device::Pool::of(MemoryKind::pinned, to_host.device);
  for (std::size_t i = 0; i < std::min(plan->pieces, most_at_once); ++i) {
    // The first pieces are the longest.
    if (stagings[i].in_bytes > 0) slots.at[i].in = pool.acquire(stagings[i].in_bytes);
    if (stagings[i].out_bytes > 0) slots.at[i].out = pool.acquire(stagings[i].out_bytes);
  }
  slots.arrived.resize(plan->pieces);
  slots.left.resize(plan->pieces);
}

void StagedExecution::State::restart() {
  arriving = begun_pieces = ended = 0;
  all_out = is_cancelled = false;
  // Later copies cannot be enqueued beside a gate, behind which they may wait.
  const bool may_be_ordered = plan->signature.kind != CallKind::blocking;  // by wait(stream)
  is_enqueued = plan->signature.op != ReduceKind::user &&
                returns_at_once(may_be_ordered ? Stream(StreamKind::cuda, nullptr) : caller, to_host.device);
  if (is_enqueued) gate.close(to_host.device);
  in_use = true;
  follow(to_host, caller, begun);
  while (arriving < std::min(plan->pieces, most_at_once)) copy_in(arriving++);
  if (is_enqueued) enqueue_all();
}

/// The results leave as the gate rises, and the slots of pieces that have been communicated take others.
void StagedExecution::State::enqueue_all() {
  for (std::size_t piece = 0; piece < plan->pieces; ++piece) {
    const auto height = static_cast<std::uint32_t>(piece + 1);
    gate.hold(to_device.stream, height);
    copy_out(piece);
    if (arriving == plan->pieces) continue;
    gate.hold(to_host.stream, height);
    copy_in(arriving++);
  }
  device::runtime()->wait_event(to_device.stream, slots.arrived.back().handle());
  done.record(to_device.device, to_device.stream);
  if (plan->signature.kind == CallKind::blocking) precede(caller, done);
}

void StagedExecution::State::copy_in(std::size_t piece) {
  Slot& slot = slot_of(piece);
  const bool shared = stagings[piece].shared;
  const auto* from = static_cast<const std::byte*>(shared ? binding.output : binding.input);
  std::byte* to = shared ? slot.out.data() : slot.in.data();
  for (const Copy& c : stagings[piece].in) copy(*device::runtime(), to, from, c, true, to_host.stream);
  slots.arrived[piece].record(to_host.device, to_host.stream);
}

void StagedExecution::State::copy_out(std::size_t piece) {
  Slot& slot = slot_of(piece);
  auto* to = static_cast<std::byte*>(binding.output);
  for (const Copy& c : stagings[piece].out) copy(*device::runtime(), to, slot.out.data(), c, false, to_device.stream);
  slots.left[piece].record(to_device.device, to_device.stream);
}

Binding StagedExecution::State::binding_of(std::size_t piece) {
  Slot& slot = slot_of(piece);
  Binding host = stagings[piece].host;
  host.input = slot.in.data();
  host.output = slot.out.data();
  return host;
}

/// Its input is here, and its slot is free for the result.
bool StagedExecution::State::may_begin(std::size_t piece) const {
  if (piece >= arriving || piece >= ended + most_at_once || !slots.arrived[piece].is_complete()) return false;
  return piece < most_at_once || slots.left[piece - most_at_once].is_complete();
}

void StagedExecution::State::end_piece() {
  pieces.finish(ended);
  if (!is_enqueued) copy_out(ended);
  ++ended;
  gate.raise(static_cast<std::uint32_t>(ended));
  if (arriving < plan->pieces) copy_in(arriving++);
}

bool StagedExecution::State::go_on() {
  if (all_out) return true;
  for (; may_begin(begun_pieces); ++begun_pieces) pieces.start(begun_pieces, binding_of(begun_pieces));
  for (std::size_t piece = ended; piece < begun_pieces; ++piece) {
    Execution* execution = pieces.find(piece);
    if (!execution->poll()) continue;
    execution->rethrow();
    if (piece == ended) end_piece();
  }
  for_peers.store(begun_pieces == arriving && peers() != nullptr, std::memory_order_relaxed);
  if (ended < plan->pieces) return false;
  for_peers.store(false, std::memory_order_relaxed);
  gate.open();
  if (!is_enqueued) done.record(to_device.device, to_device.stream);
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
      state_(at_turn(*comm_state, *plan,
                     [&] { return std::make_unique<State>(comm_state, plan, std::move(binding), stream, timeout); })) {}

StagedExecution::~StagedExecution() {
  if (state_->in_use) retire_later(std::move(state_->done), std::move(state_->slots));
}

std::string StagedExecution::name() const {
  const std::string_view way = state_->pieces.plan().way;
  return fmt::format("{} (staged:{})", operation_name(state_->plan->signature.operation),
                     way.substr(way.find(':') + 1));
}

bool StagedExecution::begin() {
  {
    const std::lock_guard lock(state_->mutex);
    const device::Guard guard(state_->to_host.device);
    state_->restart();
  }
  return step();
}

bool StagedExecution::step() {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  const device::Guard guard(s.to_host.device);
  if (!s.go_on()) return false;
  const bool is_ordered =
      s.plan->signature.kind == CallKind::blocking && s.caller.kind == StreamKind::cuda && !s.is_enqueued;
  if (is_ordered) {
    precede(s.caller, s.done);
    return true;
  }
  if (!s.done.is_complete()) return false;
  s.in_use = false;
  return true;
}

bool StagedExecution::order_before(device::StreamHandle stream) {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (s.is_cancelled || phase() != Phase::active || !(s.all_out || s.is_enqueued)) return false;
  const device::Guard guard(s.to_device.device);
  precede(Stream(StreamKind::cuda, stream), s.done);
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
  s.to_host.lease->keep();
  s.to_device.lease->keep();
  s.gate.open();
}

}  // namespace tutti::detail
