// SPDX-License-Identifier: BSD-3-Clause
#include "support/standin/nccl_launch.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "support/standin/chance.hpp"

namespace tutti::standin {

/// What the ranks compare before a collective.
struct Launch::Header {
  std::uint64_t hash = 0;
  std::uint64_t layout = 0;
  std::uint64_t count = 0;
  std::array<std::pair<std::uint64_t, std::uint64_t>, 64> before{};
  std::array<char, 512> text{};
};

void Launch::add(const Operation& operation, StreamHandle stream) {
  operations_.push_back(operation);
  if (std::find(streams_.begin(), streams_.end(), stream) == streams_.end()) streams_.push_back(stream);
}

bool Launch::has_collectives() const {
  return std::any_of(operations_.begin(), operations_.end(), [](const auto& o) { return o.is_collective(); });
}

std::string Launch::text() const {
  std::string all;
  for (const auto& operation : operations_)
    if (operation.is_collective()) all += operation.text() + " ";
  return all;
}

void Launch::take_ticket(bool hangs) {
  hangs_ = hangs;
  layout_ = comm_->layout;
  for (const Operation& o : operations_) note_places(o);
  arrived_.assign(streams_.size(), false);
  released_.assign(streams_.size(), false);
  if (is_captured_) return;
  ticket_ = comm_->launched++;
  if (is_one_sided()) expect_signals();
  order_ = ++comm_->state->last_launch;
  comm_->state->not_begun.insert(order_);
  ++comm_->state->in_flight;
  for (const auto& other : comm_->state->comms)
    if (other->phase == NcclComm::Phase::ready && other.get() != comm_)
      before_.emplace_back(other->members.id, other->collectives);
}

std::size_t Launch::place_of(const void* address) const {
  const auto* window = comm_->window_at(address);
  if (window == nullptr) return 0;
  return window->place + static_cast<std::size_t>(static_cast<const std::byte*>(address) - window->address) + 1;
}

/// In place, some collectives have one of the buffers at the rank's own block.
void Launch::note_places(const Operation& o) {
  if (!o.is_collective()) return;
  const std::size_t in = place_of(o.in);
  const std::size_t out = place_of(o.out);
  if (in > 0 && out > 0) ++comm_->state->launched_in_windows;
  if (out > 0 && o.may_be_copies() && (o.takes_no_ctas || comm_->takes_no_ctas)) ++comm_->state->copied;
  if (o.kind == Operation::Kind::all_reduce || o.kind == Operation::Kind::all_to_all)
    layout_ = (layout_ * 31 + in) * 31 + out;
}

/// NCCL has kernels and copy engines of their own for collectives on windows, and makes none of them of messages.
bool Launch::is_in_windows(const Operation& o) const {
  return o.is_collective() && (place_of(o.in) > 0 || place_of(o.out) > 0);
}

void Launch::connect() {
  using Kind = Operation::Kind;
  const int own = comm_->members.rank;
  std::vector<int> peers;
  if (is_one_sided() && comm_->connected.emplace(Kind::put_signal, 0).second)
    for (int peer = 0; peer < comm_->members.size(); ++peer)
      if (peer != own) peers.push_back(peer);
  for (const Operation& o : operations_) {
    if (o.is_one_sided()) continue;
    // NCCL makes these of messages.
    const bool is_rooted = o.kind == Kind::gather || o.kind == Kind::scatter;
    const bool in_windows = is_in_windows(o);
    const bool is_messages = !o.is_collective() || ((is_rooted || o.kind == Kind::all_to_all) && !in_windows);
    if (!is_messages && !comm_->connected.emplace(o.kind, in_windows ? 1 : 0).second) continue;
    for (int peer = 0; peer < comm_->members.size(); ++peer) {
      if (is_messages && is_rooted && own != o.peer && peer != o.peer) continue;
      if (!o.is_collective() && peer != o.peer) continue;
      if (peer != own && (!is_messages || comm_->connected.emplace(Kind::send, peer).second)) peers.push_back(peer);
    }
  }
  if (peers.empty()) return;
  if (comm_->connecting == nullptr) comm_->connecting = std::make_unique<Exchange>(comm_->members);
  for (const int peer : peers) {
    comm_->connecting->send_header(peer, Bytes(1), Channel::connect);
    (void)comm_->connecting->receive_header(peer, 1, Channel::connect);
  }
}

void Launch::enqueue() {
  const std::string name = "nccl " + (operations_.size() == 1 ? operations_.front().text() : "group");
  for (std::size_t i = 0; i < streams_.size(); ++i)
    comm_->state->runtime->enqueue(streams_[i], name, [self = shared_from_this(), i] { return self->step(i); });
}

bool Launch::step(std::size_t stream) {
  const std::lock_guard lock(comm_->state->mutex);
  arrived_[stream] = true;
  if (released_[stream]) {
    released_[stream] = arrived_[stream] = false;
    return true;
  }
  if (!std::all_of(arrived_.begin(), arrived_.end(), [](bool b) { return b; }) || !go_on()) return false;
  released_.assign(streams_.size(), true);
  released_[stream] = arrived_[stream] = false;
  return true;
}

/// Of its communicator.
bool Launch::is_next() const {
  if (comm_->is_running || comm_->phase == NcclComm::Phase::making) return false;
  return is_captured_ || comm_->finished == ticket_;
}

/// Whether the device, which has all communicators' work, takes it.
bool Launch::has_room() const {
  const NcclState& state = *comm_->state;
  if (!is_one_sided() && state.resident >= state.most_resident) return false;
  return !state.table.orders_launches || *state.not_begun.begin() == order_;
}

bool Launch::go_on() {
  if (comm_->phase == NcclComm::Phase::aborted || comm_->is_lost()) {
    finish();
    return true;
  }
  if (hangs_ || Chance::instance().one_in(4)) return false;
  if (!is_running_) {
    if (!is_next()) return false;
    is_running_ = comm_->is_running = true;
    // Before it has room, which it would never have where the ranks' orders differ.
    if (has_collectives()) exchange_headers();
  }
  if (is_one_sided()) {  // by copy engines, which need no room; what comes later begins when all is done
    if (!go_on_one_sided()) return false;
    finish();
    return true;
  }
  if (headers_ != nullptr) {
    if (!headers_->advance()) return false;
    const bool agree = headers_agree();
    headers_.reset();
    if (!agree) {
      finish();
      return true;
    }
  }
  if (!is_resident_ && !is_captured_) {
    if (!has_room()) return false;
    is_resident_ = true;
    comm_->state->not_begun.erase(order_);
    ++comm_->state->resident;
  }
  if (data_ == nullptr) begin();
  if (!data_->advance()) return false;
  if (!data_->violation().empty()) comm_->state->violate(data_->violation());
  for (std::size_t i = 0; i < operations_.size(); ++i) deliver(operations_[i], arrivals_[i]);
  finish();
  return true;
}

void Launch::exchange_headers() {
  Header mine;
  const std::string all = text();
  mine.hash = std::hash<std::string>{}(all);
  mine.layout = layout_;
  mine.count = std::min(before_.size(), mine.before.size());
  std::copy_n(before_.begin(), mine.count, mine.before.begin());
  std::copy_n(all.begin(), std::min(all.size(), mine.text.size() - 1), mine.text.begin());
  Bytes bytes(sizeof mine);
  std::memcpy(bytes.data(), static_cast<const void*>(&mine), sizeof mine);
  headers_ = std::make_unique<Exchange>(comm_->members);
  for (int peer = 0; peer < comm_->members.size(); ++peer) {
    if (peer == comm_->members.rank) continue;
    headers_->send_header(peer, bytes);
    (void)headers_->receive_header(peer, sizeof mine);
  }
}

bool Launch::headers_agree() {
  const std::string mine = text();
  const auto fail = [&](const std::string& rule) {
    comm_->error = comm_->state->violate(rule);
    return false;
  };
  for (int i = 0, peer = 0; peer < comm_->members.size(); ++peer) {
    if (peer == comm_->members.rank) continue;
    Header other;
    std::memcpy(static_cast<void*>(&other), headers_->received(static_cast<std::size_t>(i++)).data(), sizeof other);
    if (other.hash != std::hash<std::string>{}(mine))
      return fail("the ranks launch different work: rank " + std::to_string(comm_->members.rank) + " " + mine +
                  "but rank " + std::to_string(peer) + " " + other.text.data());
    if (other.layout != layout_)
      return fail("the windows of rank " + std::to_string(comm_->members.rank) +
                  " or the buffers in them lie at other places than those of rank " + std::to_string(peer));
    for (std::size_t k = 0; k < other.count; ++k)
      for (const auto& [id, launches] : before_)
        if (id == other.before[k].first && launches != other.before[k].second)
          return fail("the ranks launch on several communicators in different orders, at " + mine + "on ranks " +
                      std::to_string(comm_->members.rank) + " and " + std::to_string(peer));
  }
  return true;
}

void Launch::begin() {
  data_ = std::make_unique<Exchange>(comm_->members);
  arrivals_.assign(operations_.size(), {});
  for (const auto& operation : operations_) post(operation);
}

void Launch::post(const Operation& o) {
  using Kind = Operation::Kind;
  const int size = comm_->members.size();
  const int rank = comm_->members.rank;
  const std::size_t bytes = o.bytes();
  const bool in_blocks = o.kind == Kind::reduce_scatter || o.kind == Kind::all_to_all || o.kind == Kind::scatter;
  const bool to_root = o.kind == Kind::reduce || o.kind == Kind::gather || o.kind == Kind::send;
  const bool from_root = o.kind == Kind::broadcast || o.kind == Kind::scatter || o.kind == Kind::recv;
  auto& arrivals = arrivals_[static_cast<std::size_t>(&o - operations_.data())];
  Bytes block(bytes);
  for (int peer = 0; peer < size; ++peer) {
    const bool sends = o.kind == Kind::recv ? false : to_root ? peer == o.peer : !from_root || rank == o.peer;
    if (sends && bytes > 0) {
      const std::size_t offset = in_blocks ? static_cast<std::size_t>(peer) * bytes : 0;
      std::memcpy(block.data(), static_cast<const std::byte*>(o.in) + offset, bytes);
    }
    if (sends && o.factor)
      scale(o.type, o.factor->on_device != nullptr ? o.factor->on_device : o.factor->value.data(), block.data(),
            o.count);
    if (sends && o.reduces() && o.op == RedOp::avg) scale_for_average(o.type, size, block.data(), o.count);
    if (sends) data_->send(peer, block.data(), bytes);
    const bool receives = o.kind == Kind::send ? false : from_root ? peer == o.peer : !to_root || rank == o.peer;
    if (receives) arrivals.push_back(data_->receive(peer, bytes));
  }
}

void Launch::deliver(const Operation& o, const std::vector<std::size_t>& arrivals) const {
  if (arrivals.empty() || o.count == 0) return;
  if (!o.reduces()) {
    for (std::size_t k = 0; k < arrivals.size(); ++k)
      std::memcpy(static_cast<std::byte*>(o.out) + k * o.bytes(), data_->received(arrivals[k]).data(), o.bytes());
    return;
  }
  Bytes result = data_->received(arrivals.front());
  const RedOp op = o.op >= RedOp::avg ? RedOp::sum : o.op;
  for (std::size_t k = 1; k < arrivals.size(); ++k)
    combine(o.type, op, result.data(), data_->received(arrivals[k]).data(), o.count);
  if (o.op == RedOp::avg) divide_for_average(o.type, comm_->members.size(), result.data(), o.count);
  std::memcpy(o.out, result.data(), o.bytes());
}

void Launch::finish() {
  if (is_running_) comm_->is_running = false;
  if (is_resident_) --comm_->state->resident;
  comm_->state->not_begun.erase(order_);
  is_running_ = is_resident_ = false;
  headers_.reset();
  data_.reset();
  for (auto& [request, message] : sent_) standin::give_up(request, std::move(message));
  if (is_captured_) return;
  ++comm_->finished;
  --comm_->state->in_flight;
}

}  // namespace tutti::standin
