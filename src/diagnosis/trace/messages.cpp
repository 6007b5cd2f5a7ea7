// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/trace/merge.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

namespace tutti::detail::trace {
namespace {

/// Communicator, source, destination and tag.
using Stream = std::tuple<std::uint64_t, int, int, int>;

struct Queues {
  std::vector<Link> sends{};
  std::vector<Link> recvs{};
};

using Streams = std::map<Stream, Queues>;

void add(Streams& streams, const Communicator& communicator, bool is_recv, int peer, int tag, const Link& link) {
  if (communicator.mark == 0 || peer < 0 || tag < 0) return;
  const Stream stream = is_recv ? Stream{communicator.mark, peer, communicator.rank, tag}
                                : Stream{communicator.mark, communicator.rank, peer, tag};
  Queues& queues = streams[stream];
  (is_recv ? queues.recvs : queues.sends).push_back(link);
}

void add_messages(Streams& streams, const Part& part, int number) {
  for (std::size_t i = 0; i < part.calls.size(); ++i) {
    const TracedCall& call = part.calls[i];
    const flight::Facts& facts = call.facts;
    if (facts.form == flight::Form::init || call.state == flight::State::failed) continue;
    const Communicator& communicator = part.communicator(call);
    if (facts.call == flight::Call::send || facts.call == flight::Call::recv)
      add(streams, communicator, facts.call == flight::Call::recv, facts.peer, facts.tag, {number, i});
    if (facts.call != flight::Call::group) continue;
    for (const Transfer& one : part.messages(call))
      add(streams, communicator, one.is_recv, one.peer, one.tag, {number, i});
  }
}

}  // namespace

std::vector<Message> match_messages(const std::vector<Part>& parts) {
  Streams streams;
  for (std::size_t i = 0; i < parts.size(); ++i) add_messages(streams, parts[i], static_cast<int>(i));
  std::vector<Message> messages;
  for (const auto& [stream, queues] : streams)
    for (std::size_t i = 0; i < std::min(queues.sends.size(), queues.recvs.size()); ++i)
      messages.push_back({queues.sends[i], queues.recvs[i]});
  return messages;
}

}  // namespace tutti::detail::trace
