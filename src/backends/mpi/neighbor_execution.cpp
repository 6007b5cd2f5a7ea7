// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/neighbor_execution.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/mpi/message.hpp"
#include "call/context.hpp"
#include "call/deferred_free.hpp"
#include "kernels/pack.hpp"

namespace tutti::detail {

using schedules::Local;
using schedules::Round;
using schedules::Transfer;

NeighborExecution::NeighborExecution(ContextPtr comm_state, NeighborExchange&& exchange, CallKind kind,
                                     const CallOptions& options)
    : Execution(std::move(comm_state), options.timeout, kind == CallKind::persistent),
      exchange_(std::move(exchange)),
      schedule_(exchange_.schedule_of(*comm().neighbors)),
      tag_(kind == CallKind::persistent ? comm().next_persistent_tag() : comm().next_tag()) {
  plan();
  place_packed();
  comm().need_messages();
}

NeighborExecution::~NeighborExecution() { comm().scratch.release(std::move(packed_)); }

// An empty block is empty at both ends of its edge, so both leave its message out.
void NeighborExecution::plan() {
  std::size_t most = 0;
  for (const Round& round : schedule_.rounds) most += round.transfers.size();
  messages_.reserve(most);
  const auto add = [&](Transfer::Kind kind, const std::vector<EdgeBlock>& blocks) {
    for (const Round& round : schedule_.rounds)
      for (const Transfer& t : round.transfers)
        if (t.kind == kind && blocks[t.slice.offset].bytes > 0)
          messages_.push_back({&blocks[t.slice.offset], blocks[t.slice.offset].address, t.peer});
  };
  add(Transfer::Kind::recv, exchange_.received);
  received_ = messages_.size();
  add(Transfer::Kind::send, exchange_.sent);
}

void NeighborExecution::place_packed() {
  std::size_t bytes = 0;
  for (const Message& message : messages_)
    if (message.block->layout) bytes += message.block->bytes;
  const std::size_t messages = bytes;
  for (const Round& round : schedule_.rounds)
    for (const Local& local : round.locals) {
      const EdgeBlock& from = exchange_.sent[local.inputs.front().offset];
      if (from.layout && exchange_.received[local.output.offset].layout) bytes = std::max(bytes, messages + from.bytes);
    }
  packed_ = comm().scratch.acquire(bytes);
  std::byte* at = packed_.data();
  for (Message& message : messages_)
    if (message.block->layout) {
      message.bytes = at;
      at += message.block->bytes;
    }
  between_ = at;
}

bool NeighborExecution::begin() {
  posted_ = false;
  next_ = 0;
  return step();
}

void NeighborExecution::post() {
  const MPI_Comm over = comm().messages.get();
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    Message& m = messages_[i];
    if (i < received_) {
      post_recv(m.bytes, m.block->bytes, m.peer, tag_, over, m.request);
      continue;
    }
    if (m.block->layout) kernels::pack(*m.block->layout, m.block->unit, m.block->address, m.bytes);
    post_send(m.bytes, m.block->bytes, m.peer, tag_, over, m.request);
  }
  posted_ = true;
}

void NeighborExecution::copy_own() const {
  for (const Round& round : schedule_.rounds)
    for (const Local& local : round.locals)
      copy(exchange_.sent[local.inputs.front().offset], exchange_.received[local.output.offset]);
}

void NeighborExecution::copy(const EdgeBlock& from, const EdgeBlock& to) const {
  if (from.bytes == 0) return;
  std::byte* contiguous = from.address;
  if (from.layout) {
    contiguous = to.layout ? between_ : to.address;
    kernels::pack(*from.layout, from.unit, from.address, contiguous);
  }
  if (to.layout)
    kernels::unpack(*to.layout, to.unit, contiguous, to.layout->elements, to.address);
  else if (contiguous != to.address)
    std::memcpy(to.address, contiguous, from.bytes);
}

bool NeighborExecution::step() {
  if (!posted_) {
    if (!messages_.empty() && !comm().messages.ready()) return false;
    post();
    copy_own();
  }
  return arrive();
}

bool NeighborExecution::arrive() {
  for (; next_ < messages_.size(); ++next_) {
    Message& m = messages_[next_];
    MPI_Status status;
    if (!test_request(m.request, status, "MPI_Test")) return false;
    if (next_ < received_ && m.block->layout)
      kernels::unpack(*m.block->layout, m.block->unit, m.bytes, m.block->layout->elements, m.block->address);
  }
  return true;
}

void NeighborExecution::cancel() noexcept {
  for (std::size_t i = 0; i < messages_.size(); ++i) drop_request(messages_[i].request, i < received_);
  messages_.clear();
  if (packed_.bytes > 0) defer_free(std::move(packed_.memory));
  packed_ = {};
}

}  // namespace tutti::detail
