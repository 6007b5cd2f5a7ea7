// SPDX-License-Identifier: BSD-3-Clause
#include "support/standin/nccl_wire.hpp"

#include <cstring>
#include <set>
#include <utility>

namespace tutti::standin {
namespace {

void post_receive(void* data, std::size_t bytes, int source, int tag, MPI_Request* request) {
  MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, source, tag, wire(), request);
}

void post_send(const void* data, std::size_t bytes, int target, int tag, MPI_Request* request) {
  MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, target, tag, wire(), request);
}

}  // namespace

MPI_Comm wire() {
  static MPI_Comm own = MPI_COMM_NULL;
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (own == MPI_COMM_NULL && initialized != 0 && finalized == 0) MPI_Comm_dup(MPI_COMM_WORLD, &own);
  return own;
}

bool may_use_wire() {
  if (wire() == MPI_COMM_NULL) return true;
  int level = MPI_THREAD_SINGLE;
  int is_main = 0;
  MPI_Query_thread(&level);
  MPI_Is_thread_main(&is_main);
  return level == MPI_THREAD_MULTIPLE || is_main != 0;
}

int tag_of(std::uint64_t id, Channel channel) {
  return static_cast<int>(id % 0x1fffffU) * 8 + static_cast<int>(channel);
}

void give_up(MPI_Request& request, std::shared_ptr<void> memory) {
  static auto* kept = new std::vector<std::shared_ptr<void>>;
  if (request == MPI_REQUEST_NULL) return;
  kept->push_back(std::move(memory));
  request = MPI_REQUEST_NULL;
}

void give_up_receive(MPI_Request& request, std::shared_ptr<void> memory) {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (request != MPI_REQUEST_NULL && finalized == 0) {
    MPI_Request copy = request;
    MPI_Cancel(&copy);
    MPI_Request_free(&copy);
  }
  give_up(request, std::move(memory));
}

bool is_done(MPI_Request& request) {
  if (request == MPI_REQUEST_NULL) return true;  // also where there is no MPI
  int done = 0;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

Exchange::~Exchange() {
  for (auto& message : incoming_) give_up(message.body, message.data);
  for (auto& message : outgoing_) {
    if (message->clear == MPI_REQUEST_NULL && message->body == MPI_REQUEST_NULL) continue;
    auto memory = std::shared_ptr<Outgoing>(std::move(message));
    MPI_Request clear = memory->clear;
    MPI_Request body = memory->body;
    give_up_receive(clear, memory);
    give_up(body, memory);
  }
}

void Exchange::send(int peer, const void* data, std::size_t bytes) {
  auto message = std::make_unique<Outgoing>();
  message->peer = peer;
  message->data = std::make_shared<Bytes>(bytes);
  if (bytes > 0) std::memcpy(message->data->data(), data, bytes);
  if (peer != members_->rank)
    post_receive(&message->room, sizeof message->room, world_rank(peer), tag(Channel::clear), &message->clear);
  outgoing_.push_back(std::move(message));
}

std::size_t Exchange::receive(int peer, std::size_t bytes) {
  Incoming message{peer, std::make_shared<Bytes>(bytes), MPI_REQUEST_NULL};
  if (peer != members_->rank) {
    post_receive(message.data->data(), bytes, world_rank(peer), tag(Channel::body), &message.body);
    Bytes room(sizeof(std::uint64_t));
    const std::uint64_t value = bytes;
    std::memcpy(room.data(), &value, sizeof value);
    auto clear = std::make_unique<Outgoing>();
    clear->peer = peer;
    clear->data = std::make_shared<Bytes>(std::move(room));
    clear->is_posted = true;
    post_send(clear->data->data(), clear->data->size(), world_rank(peer), tag(Channel::clear), &clear->body);
    outgoing_.push_back(std::move(clear));
  }
  incoming_.push_back(std::move(message));
  return incoming_.size() - 1;
}

void Exchange::send_header(int peer, const Bytes& header, Channel channel) {
  auto message = std::make_unique<Outgoing>();
  message->peer = peer;
  message->data = std::make_shared<Bytes>(header);
  message->is_posted = true;
  post_send(message->data->data(), header.size(), world_rank(peer), tag(channel), &message->body);
  outgoing_.push_back(std::move(message));
}

std::size_t Exchange::receive_header(int peer, std::size_t bytes, Channel channel) {
  Incoming message{peer, std::make_shared<Bytes>(bytes), MPI_REQUEST_NULL};
  post_receive(message.data->data(), bytes, world_rank(peer), tag(channel), &message.body);
  incoming_.push_back(std::move(message));
  return incoming_.size() - 1;
}

void Exchange::deliver_to_self() {
  std::vector<Incoming*> mine;
  for (auto& message : incoming_)
    if (message.peer == members_->rank) mine.push_back(&message);
  std::size_t next = 0;
  for (auto& message : outgoing_) {
    if (message->peer != members_->rank || message->is_posted) continue;
    message->is_posted = true;
    if (next < mine.size() && mine[next]->data->size() == message->data->size())
      *mine[next]->data = *message->data;
    else
      violation_ = "a send to the own rank without its receive in the same group, or of another size";
    ++next;
  }
  if (next < mine.size()) violation_ = "a receive from the own rank without its send in the same group";
}

bool Exchange::advance_outgoing() {
  bool all = true;
  std::set<int> behind;  // peers whose earlier message has not left: messages keep their order
  for (auto& message : outgoing_) {
    if (message->is_posted) {
      all &= is_done(message->body);
      continue;
    }
    if (behind.contains(message->peer) || !is_done(message->clear)) {
      behind.insert(message->peer);
      all = false;
      continue;
    }
    if (message->room != message->data->size())
      violation_ = "rank " + std::to_string(members_->rank) + " sends " + std::to_string(message->data->size()) +
                   " bytes, rank " + std::to_string(message->peer) + " receives " + std::to_string(message->room);
    message->data->resize(message->room);
    message->is_posted = true;
    post_send(message->data->data(), message->data->size(), world_rank(message->peer), tag(Channel::body),
              &message->body);
    all &= is_done(message->body);
  }
  return all;
}

bool Exchange::advance() {
  if (!std::exchange(has_delivered_, true)) deliver_to_self();
  bool all = advance_outgoing();
  for (auto& message : incoming_) all &= is_done(message.body);
  return all;
}

}  // namespace tutti::standin
