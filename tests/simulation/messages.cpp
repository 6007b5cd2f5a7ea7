// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/messages.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "simulation/handles.hpp"

namespace tutti::simulation {
namespace {

Messages* active_messages = nullptr;

std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

/// What the rank that runs knows, if its memory is weak.
Knowledge known_here() {
  WeakMemory* memory = WeakMemory::current();
  return memory == nullptr ? Knowledge{} : memory->tell();
}

template <typename T, typename Choose>
void combine(void* into, const void* other, std::size_t bytes, const Choose& choose) {
  for (std::size_t at = 0; at < bytes; at += sizeof(T)) {
    T a{}, b{};
    std::memcpy(&a, static_cast<std::byte*>(into) + at, sizeof a);
    std::memcpy(&b, static_cast<const std::byte*>(other) + at, sizeof b);
    a = choose(a, b);
    std::memcpy(static_cast<std::byte*>(into) + at, &a, sizeof a);
  }
}

}  // namespace

Messages::Messages(Scheduler& scheduler, int ranks, const Manner& manner)
    : scheduler_(scheduler), manner_(manner), arrived_(index(ranks)), posted_(index(ranks)), asked_(index(ranks)) {
  active_messages = this;
}

Messages::~Messages() { active_messages = nullptr; }

Messages& Messages::current() { return *active_messages; }

Messages::Handle Messages::make_communicator(std::vector<int> members) {
  std::vector<std::uint64_t> joined(members.size());
  communicators_.push_back({std::move(members), std::move(joined)});
  return static_cast<Handle>(communicators_.size());
}

int Messages::rank_in(Handle comm) const {
  const auto& members = communicator(comm).members;
  return static_cast<int>(std::find(members.begin(), members.end(), scheduler_.rank()) - members.begin());
}

Messages::Handle Messages::add(Request request) {
  requests_[++last_request_] = request;
  return last_request_;
}

Messages::Handle Messages::send(Handle comm, int peer, int tag, const void* data, std::size_t bytes) {
  scheduler_.stop(4);
  const int me = scheduler_.rank();
  const int to = communicator(comm).members[index(peer)];
  auto message = std::make_shared<Message>();
  *message = {comm, me, to, tag, {}, nullptr, bytes, 0, 0, known_here()};
  const bool is_eager = bytes <= manner_.eager;
  message->sent_by = add({me, comm, to, tag, nullptr, bytes, is_eager, MPI_SUCCESS});
  const auto* begin = static_cast<const std::byte*>(data);
  if (is_eager)
    message->data.assign(begin, begin + bytes);
  else
    message->lent = begin;
  flying_[{me, to}].push_back(message);
  return message->sent_by;
}

Messages::Handle Messages::receive(Handle comm, int peer, int tag, void* data, std::size_t bytes) {
  scheduler_.stop(4);
  const int me = scheduler_.rank();
  const Handle made = add({me, comm, communicator(comm).members[index(peer)], tag, static_cast<std::byte*>(data), bytes,
                           false, MPI_SUCCESS});
  posted_[index(me)].push_back(made);
  progress();
  return made;
}

void Messages::progress() {
  const WeakMemory::Pause pause;
  const int me = scheduler_.rank();
  for (const MessagePtr& message : std::exchange(asked_[index(me)], {})) {
    const auto taken_by = requests_.find(message->taken_by);
    if (taken_by != requests_.end() && message->bytes > 0)
      std::memcpy(taken_by->second.to, message->lent, message->bytes);
    finish(message->taken_by);
    finish(message->sent_by);
  }
  auto& arrived = arrived_[index(me)];
  for (auto it = arrived.begin(); it != arrived.end();) it = match(*it) ? arrived.erase(it) : std::next(it);
}

/// Gives a message to the first receive that waits for it.
bool Messages::match(const MessagePtr& message) {
  auto& posted = posted_[index(message->to)];
  const auto found = std::find_if(posted.begin(), posted.end(), [&](Handle handle) {
    const Request& request = requests_.at(handle);
    return request.comm == message->comm && request.peer == message->from && request.tag == message->tag;
  });
  if (found == posted.end()) return false;
  accept(message, *found);
  posted.erase(found);
  return true;
}

void Messages::accept(const MessagePtr& message, Handle taken_by) {
  Request& request = requests_.at(taken_by);
  request.told = message->told;
  if (message->bytes > request.bytes) {
    finish(message->sent_by);
    return finish(taken_by, MPI_ERR_TRUNCATE);
  }
  if (message->lent != nullptr) {
    message->taken_by = taken_by;
    asked_[index(message->from)].push_back(message);
    return;
  }
  if (message->bytes > 0) std::memcpy(request.to, message->data.data(), message->bytes);
  finish(taken_by);
}

void Messages::finish(Handle request, int error) {
  const auto found = requests_.find(request);
  if (found == requests_.end()) return;
  found->second.done = true;
  found->second.error = error;
  scheduler_.tell();
}

bool Messages::test(Handle request, int& error) {
  scheduler_.stop(2);
  progress();
  const auto found = requests_.find(request);
  if (found == requests_.end()) {
    scheduler_.fail("a request of MPI is tested after its end");
    return true;
  }
  if (!found->second.done) return false;
  if (WeakMemory* memory = WeakMemory::current()) memory->learn(found->second.told);
  error = found->second.error;
  requests_.erase(found);
  return true;
}

void Messages::cancel(Handle request) {
  auto& posted = posted_[index(scheduler_.rank())];
  std::erase(posted, request);
}

void Messages::forget(Handle request) { requests_.erase(request); }

bool Messages::deliver(Random& random) {
  std::erase_if(flying_, [](const auto& pair) { return pair.second.empty(); });
  if (flying_.empty()) return false;
  const auto chosen = std::next(flying_.begin(), random.below(static_cast<int>(flying_.size())));
  if (swaps_) swap_within(chosen->second);
  const MessagePtr message = chosen->second.front();
  chosen->second.pop_front();
  arrived_[index(message->to)].push_back(message);
  scheduler_.tell();
  return true;
}

void Messages::swap_within(std::deque<MessagePtr>& pair) {
  for (std::size_t i = 1; i < pair.size() && swaps_; ++i)
    if (pair[i]->comm == pair[0]->comm && pair[i]->tag == pair[0]->tag) {
      std::swap(pair[0], pair[i]);
      swaps_ = false;
    }
}

Messages::Handle Messages::join(Handle comm, Collective what, int root, const Part& part) {
  const int me = rank_in(comm);
  const std::size_t members = communicator(comm).members.size();
  const std::uint64_t number = communicators_[static_cast<std::size_t>(comm - 1)].joined[index(me)]++;
  Meeting& meeting = meetings_[{comm, number}];
  meeting.parts.resize(members);
  meeting.requests.resize(members);
  meeting.told.resize(members);
  meeting.told[index(me)] = known_here();
  meeting.parts[index(me)] = part;
  const Handle made = meeting.requests[index(me)] =
      add({scheduler_.rank(), comm, 0, 0, nullptr, 0, false, MPI_SUCCESS});
  if (++meeting.came < members) return made;
  hold(meeting, comm, what, root);
  tell_all(meeting, what, root);
  for (const Handle request : meeting.requests) finish(request);
  meetings_.erase({comm, number});
  return made;
}

/// A broadcast tells what its root knows; a duplicate need not tell anything.
void Messages::tell_all(const Meeting& meeting, Collective what, int root) {
  Knowledge all = meeting.told[index(root)];
  if (what != Collective::broadcast)
    for (const Knowledge& told : meeting.told) all.join(told);
  for (const Handle handle : meeting.requests)
    if (const auto found = requests_.find(handle); found != requests_.end() && what != Collective::duplicate)
      found->second.told = all;
}

void Messages::hold(Meeting& meeting, Handle comm, Collective what, int root) {
  const WeakMemory::Pause pause;
  const auto& parts = meeting.parts;
  if (what == Collective::duplicate) {
    const Handle made = make_communicator(communicator(comm).members);
    for (const Part& part : parts) *part.made = handle_of<MPI_Comm>(made);
    return;
  }
  const std::size_t bytes = parts[0].bytes;
  std::vector<std::byte> result(what == Collective::gather ? bytes * parts.size() : bytes);
  const void* first = parts[index(root)].in;
  std::memcpy(result.data(), first, bytes);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (what == Collective::gather) std::memcpy(result.data() + i * bytes, parts[i].in, bytes);
    if (what == Collective::smallest_ints)
      combine<int>(result.data(), parts[i].in, bytes, [](int a, int b) { return std::min(a, b); });
    if (what == Collective::greatest_ints)
      combine<int>(result.data(), parts[i].in, bytes, [](int a, int b) { return std::max(a, b); });
    if (what == Collective::greatest_doubles)
      combine<double>(result.data(), parts[i].in, bytes, [](double a, double b) { return std::max(a, b); });
  }
  for (const Part& part : parts) std::memcpy(part.out, result.data(), result.size());
}

}  // namespace tutti::simulation
