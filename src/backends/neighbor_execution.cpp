// SPDX-License-Identifier: BSD-3-Clause
#include "backends/neighbor_execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/list.hpp"
#include "backends/mpi/message.hpp"
#include "backends/shm/arena.hpp"
#include "call/deferred_free.hpp"
#include "core/progress_hook.hpp"
#include "kernels/copy.hpp"
#include "kernels/pack.hpp"

namespace tutti::detail {
namespace {

/// Copies the elements of a block to contiguous memory, and back.
void pack(const EdgeBlock& block, std::byte* to) {
  if (block.layout)
    kernels::pack(*block.layout, block.unit, block.address, to);
  else
    kernels::copy(to, block.address, block.bytes);
}
void unpack(const std::byte* from, const EdgeBlock& block) {
  if (block.layout)
    kernels::unpack(*block.layout, block.unit, from, block.layout->elements, block.address);
  else
    kernels::copy(block.address, from, block.bytes);
}

std::size_t blocks_in(const EdgeRoutes& routes) {
  std::size_t blocks = 0;
  for (const auto* side : {&routes.taken, &routes.given})
    for (const EdgeRoute& route : *side) blocks += route.blocks.size();
  return blocks;
}

}  // namespace

Context* sharing_ranks(Context& context) noexcept {
  Context& near = context.node ? *context.node : context;
  return near.state_of(shm_backend) != nullptr ? &near : nullptr;
}

NeighborExecution::NeighborExecution(ContextPtr comm_state, NeighborExchange&& exchange, CallKind kind,
                                     const CallOptions& options)
    : Execution(std::move(comm_state), options.timeout, kind == CallKind::persistent),
      exchange_(std::move(exchange)),
      routes_(exchange_.routes_of(*comm().neighbors)),
      sharing_(sharing_ranks(comm())),
      tag_(kind == CallKind::persistent ? comm().next_persistent_tag() : comm().next_tag()),
      messages_(blocks_in(routes_)),
      parcels_(routes_.taken.size() + routes_.given.size()),
      taken_(routes_.taken.size()) {
  if (sharing_ != nullptr) slots_.emplace(*sharing_, exchange_.call, kind, options.timeout);
  if (slots_ && !slots_->has_cells()) slots_.reset();
  plan();
  place_between();
  comm().need_messages();
}

NeighborExecution::~NeighborExecution() {
  comm().scratch.release(std::move(packed_));
  comm().scratch.release(std::move(between_));
}

void NeighborExecution::plan() {
  std::size_t i = 0;
  std::size_t next = 0;
  for (const EdgeRoute& route : routes_.taken) parcels_[i++] = parcel_of(route, exchange_.received, next);
  for (const EdgeRoute& route : routes_.given) parcels_[i++] = parcel_of(route, exchange_.sent, next);
}

int NeighborExecution::place_of(int peer) const {
  if (!slots_) return -1;
  const auto& places = comm().topology.places;
  const Place& other = places[static_cast<std::size_t>(peer)];
  return other.node == places[static_cast<std::size_t>(comm().rank)].node ? other.local_rank : -1;
}

NeighborExecution::Parcel NeighborExecution::parcel_of(const EdgeRoute& route, const EdgeBlocks& blocks,
                                                       std::size_t& next) {
  Parcel parcel;
  parcel.peer = route.peer;
  parcel.first = next;
  for (const std::size_t i : route.blocks) {
    const EdgeBlock& block = blocks[i];
    if (block.bytes == 0) continue;
    messages_[next++] = {&block, block.address};
    parcel.bytes += block.bytes;
    parcel.sizes = (parcel.sizes + block.bytes) * 0x9E3779B97F4A7C15ULL;
  }
  parcel.last = next;
  if (parcel.bytes > 0) parcel.place = place_of(route.peer);
  return parcel;
}

void NeighborExecution::place_between() {
  std::size_t bytes = 0;
  for (const auto& [from, to] : routes_.kept)
    if (exchange_.sent[from].layout && exchange_.received[to].layout)
      bytes = std::max(bytes, exchange_.sent[from].bytes);
  between_ = comm().scratch.acquire(bytes);
}

void NeighborExecution::place_packed() {
  std::size_t bytes = 0;
  for (const Message& message : messages_)
    if (message.block != nullptr && message.block->layout) bytes += message.block->bytes;
  packed_ = comm().scratch.acquire(bytes);
  std::byte* at = packed_.data();
  for (Message& message : messages_)
    if (message.block != nullptr && message.block->layout) {
      message.bytes = at;
      at += message.block->bytes;
    }
}

NeighborExecution::Parcel::State NeighborExecution::first_state(const Parcel& parcel) const {
  using State = Parcel::State;
  if (parcel.bytes == 0) return State::done;
  if (parcel.place < 0 || !shm::NeighborSlots::fits(parcel.bytes)) return State::by_messages;
  return is_taken(parcel) ? State::waiting : State::kept;
}

bool NeighborExecution::begin() {
  is_published_ = false;
  uses_slots_ = slots_.has_value();
  next_ = 0;
  for (Parcel& parcel : parcels_) {
    parcel.state = first_state(parcel);
    parcel.is_told = parcel.place < 0 || !is_taken(parcel);
    parcel.lines = 0;
    parcel.next = parcel.first;
  }
  has_messages_.store(false, std::memory_order_relaxed);
  if (slots_) slots_->begin();
  return step();
}

bool NeighborExecution::step() {
  if (!is_published_) {
    post_all();  // ranks of other nodes wait for no cell of this one
    if (slots_ && !slots_->is_free()) {
      watch();
      return false;
    }
    publish();
    (void)advance();  // the messages travel while this rank copies
    copy_own();
  }
  if (!advance()) {
    watch();
    return false;
  }
  return true;
}

void NeighborExecution::publish() {
  if (slots_) {
    for (std::size_t i = taken_; i < parcels_.size(); ++i)
      if (parcels_[i].place >= 0) give(parcels_[i]);
    slots_->publish();
  }
  is_published_ = true;
}

void NeighborExecution::give(Parcel& parcel) {
  const shm::NeighborSlots::Room room = slots_->room_for(parcel.place, parcel.bytes);
  std::byte* at = room.at;
  for (std::size_t i = parcel.first; at != nullptr && i < parcel.last; ++i) {
    pack(*messages_[i].block, at);
    at += messages_[i].block->bytes;
  }
  slots_->give(room, parcel.place, parcel.bytes, parcel.sizes);
  if (parcel.state == Parcel::State::kept)
    parcel.state = at != nullptr ? Parcel::State::done : Parcel::State::by_messages;
}

void NeighborExecution::look(Parcel& parcel) {
  using Via = shm::NeighborSlots::Via;
  const shm::NeighborSlots::Given given = slots_->look(parcel.place, parcel.lines);
  if (given.via == Via::none_yet) return;
  check_sizes(parcel, given);
  parcel.is_told = true;
  if (parcel.state != Parcel::State::waiting) return;  // its messages are on their way
  if (given.via == Via::messages) {
    parcel.state = Parcel::State::by_messages;
    return;
  }
  const std::byte* from = given.at;
  for (std::size_t i = parcel.first; i < parcel.last; ++i) {
    unpack(from, *messages_[i].block);
    from += messages_[i].block->bytes;
  }
  parcel.state = Parcel::State::done;
}

void NeighborExecution::check_sizes(const Parcel& parcel, const shm::NeighborSlots::Given& given) const {
  const bool is_known = given.bytes > 0;
  if (!is_known || (given.bytes == parcel.bytes && given.sizes == parcel.sizes)) return;
  throw Error(ErrorCode::mismatch,
              fmt::format("{}: rank {} sends rank {} {} bytes{}, but that rank expects {}; make their counts equal",
                          exchange_.name, parcel.peer, comm().rank, given.bytes,
                          given.bytes == parcel.bytes ? " in other blocks" : "", parcel.bytes));
}

void NeighborExecution::post(Parcel& parcel) {
  if (!comm().messages.ready()) return;
  const bool is_recv = is_taken(parcel);
  const MPI_Comm over = comm().messages.get();
  for (std::size_t i = parcel.first; i < parcel.last; ++i) {
    Message& m = messages_[i];
    if (m.block->layout && packed_.bytes == 0) place_packed();
    if (is_recv) {
      post_recv(m.bytes, m.block->bytes, parcel.peer, tag_, over, m.request);
      continue;
    }
    if (m.block->layout) pack(*m.block, m.bytes);
    post_send(m.bytes, m.block->bytes, parcel.peer, tag_, over, m.request);
  }
  parcel.state = Parcel::State::posted;
}

void NeighborExecution::post_all() {
  for (Parcel& parcel : parcels_)
    if (parcel.state == Parcel::State::by_messages) post(parcel);
}

bool NeighborExecution::has_arrived(Parcel& parcel) {
  const bool is_recv = is_taken(parcel);
  for (; parcel.next < parcel.last; ++parcel.next) {
    Message& m = messages_[parcel.next];
    MPI_Status status;
    if (!test_request(m.request, status, "MPI_Test")) return false;
    if (is_recv && m.block->layout) unpack(m.bytes, *m.block);
  }
  parcel.state = Parcel::State::done;
  return true;
}

bool NeighborExecution::advance() {
  using State = Parcel::State;
  bool tests = true;  // one incomplete message is enough to drive the host MPI
  bool waits = false;
  bool has_messages = false;
  for (std::size_t i = next_; i < parcels_.size(); ++i) {
    Parcel& parcel = parcels_[i];
    if (!parcel.is_told) look(parcel);
    if (parcel.state == State::by_messages) post(parcel);
    if (parcel.state == State::posted && parcel.is_told && tests) tests = has_arrived(parcel);
    if (parcel.is_over() && i == next_) ++next_;
    waits = waits || !parcel.is_told;
    has_messages = has_messages || parcel.state == State::by_messages || parcel.state == State::posted;
  }
  has_messages_.store(has_messages, std::memory_order_relaxed);
  if (!waits) finish_slots();
  return next_ == parcels_.size();
}

// Before the messages are complete: no call of this node need wait for ranks of other nodes.
void NeighborExecution::finish_slots() {
  if (uses_slots_) slots_->finish();
  uses_slots_ = false;
}

// A rank that gives nothing to this one is none of its business.
void NeighborExecution::watch() {
  if (!slots_) return;
  if (slots_->arena().has_failed()) slots_->arena().throw_failure(*sharing_, name());
  const std::uint32_t idle_steps = idle_steps_.load(std::memory_order_relaxed) + 1;
  idle_steps_.store(idle_steps, std::memory_order_relaxed);
  if (idle_steps % steps_per_look != 0) return;
  const auto who = [this] { return name() + ", " + sharing_->describe(); };
  if (is_published_)
    for (std::size_t i = next_; i < taken_; ++i)
      if (!parcels_[i].is_told) slots_->check_giver(parcels_[i].place, who);
  if (!has_messages_.load(std::memory_order_relaxed)) progress_hook::look_into_mpi(comm().point_to_point);
}

void NeighborExecution::announce_backoff() noexcept {
  if (naps_by_slots()) slots_->arena().announce_backoff();
}

void NeighborExecution::backoff() noexcept {
  if (!naps_by_slots()) return Execution::backoff();
  (void)slots_->arena().backoff();
  idle_steps_.store(steps_per_look - 1, std::memory_order_relaxed);  // a sleep is as long as many steps
}

void NeighborExecution::copy_own() const {
  for (const auto& [from, to] : routes_.kept) copy(exchange_.sent[from], exchange_.received[to]);
}

void NeighborExecution::copy(const EdgeBlock& from, const EdgeBlock& to) const {
  if (from.bytes == 0) return;
  std::byte* contiguous = from.address;
  if (from.layout) {
    contiguous = to.layout ? between_.data() : to.address;
    pack(from, contiguous);
  }
  if (to.layout || contiguous != to.address) unpack(contiguous, to);
}

void NeighborExecution::cancel() noexcept {
  for (std::size_t i = 0; i < parcels_.size(); ++i)
    for (std::size_t k = parcels_[i].first; k < parcels_[i].last; ++k) drop_request(messages_[k].request, i < taken_);
  if (packed_.bytes > 0) defer_free(std::move(packed_.memory));
  packed_ = {};
}

}  // namespace tutti::detail
