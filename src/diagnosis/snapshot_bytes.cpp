// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/snapshot.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace tutti::detail::flight {

namespace {

using nlohmann::json;

json of(const Facts& facts) {
  return {facts.bytes,
          facts.communicator,
          facts.sequence,
          facts.peer,
          facts.tag,
          static_cast<int>(facts.call),
          static_cast<int>(facts.form),
          facts.type,
          facts.op};
}

Facts facts_from(const json& all) {
  Facts facts;
  facts.bytes = all.at(0);
  facts.communicator = all.at(1);
  facts.sequence = all.at(2);
  facts.peer = all.at(3);
  facts.tag = all.at(4);
  facts.call = static_cast<Call>(all.at(5).get<int>());
  facts.form = static_cast<Form>(all.at(6).get<int>());
  facts.type = all.at(7);
  facts.op = all.at(8);
  return facts;
}

json of(const SeenCall& call) {
  return {of(call.facts), static_cast<int>(call.state), call.way, call.site, call.number, call.begin, call.end};
}

SeenCall call_from(const json& all) {
  return {facts_from(all.at(0)),
          static_cast<State>(all.at(1).get<int>()),
          all.at(2),
          all.at(3),
          all.at(4),
          all.at(5),
          all.at(6)};
}

json of(const SeenCommunicator& one) { return {one.mark, one.rank, one.size, one.sequence, one.number, one.name}; }

SeenCommunicator communicator_from(const json& all) {
  return {all.at(0), all.at(1), all.at(2), all.at(3), all.at(4), all.at(5)};
}

json of(const Snapshot& one, std::size_t last_calls) {
  json communicators = json::array();
  json calls = json::array();
  for (const SeenCommunicator& row : one.communicators) communicators.push_back(of(row));
  const std::size_t first = one.calls.size() - std::min(one.calls.size(), last_calls);
  for (std::size_t i = 0; i < one.calls.size(); ++i) {
    // One that is not over counts, however old it is.
    if (i >= first || one.calls[i].end == 0) calls.push_back(of(one.calls[i]));
  }
  return {one.process, one.world_rank, one.world_size, one.ended, one.is_alive,  one.job,
          one.host,    one.command,    one.taken,      one.total, communicators, calls};
}

/// Whoever sent it may be of another version, or mean harm.
bool is_sound(const SeenCall& call, const Snapshot& of) {
  return is_sound(call.facts, call.state) && row_of(call.facts.communicator) < of.communicators.size();
}

Snapshot snapshot_from(const json& all) {
  Snapshot one;
  one.process = all.at(0);
  one.world_rank = all.at(1);
  one.world_size = all.at(2);
  one.ended = all.at(3);
  one.is_alive = all.at(4);
  one.job = all.at(5);
  one.host = all.at(6);
  one.command = all.at(7);
  one.taken = all.at(8);
  one.total = all.at(9);
  for (const json& row : all.at(10)) one.communicators.push_back(communicator_from(row));
  for (const json& call : all.at(11))
    if (SeenCall seen = call_from(call); is_sound(seen, one)) one.calls.push_back(std::move(seen));
  return one;
}

}  // namespace

std::string to_bytes(const Job& job, std::size_t last_calls) {
  json all = json::array();
  for (const Snapshot& one : job) all.push_back(of(one, last_calls));
  std::string bytes;
  json::to_cbor(all, bytes);
  return bytes;
}

Job from_bytes(std::string_view bytes) {
  Job job;
  try {
    for (const json& one : json::from_cbor(bytes.begin(), bytes.end())) job.push_back(snapshot_from(one));
  } catch (const json::exception&) {
    job.clear();
  }
  return job;
}

}  // namespace tutti::detail::flight
