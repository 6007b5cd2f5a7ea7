// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/snapshot.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

namespace tutti::detail::flight {

using nlohmann::json;

// What travels of each, in this order.
inline auto fields(Facts& one) {
  return std::tie(one.bytes, one.communicator, one.sequence, one.peer, one.tag, one.call, one.form, one.type, one.op);
}
inline auto fields(SeenCall& one) {
  return std::tie(one.facts, one.state, one.way, one.site, one.number, one.begin, one.end);
}
inline auto fields(SeenCommunicator& one) {
  return std::tie(one.mark, one.rank, one.size, one.sequence, one.number, one.name);
}
inline auto fields(Snapshot& one) {
  return std::tie(one.process, one.world_rank, one.world_size, one.ended, one.is_alive, one.job, one.host, one.command,
                  one.taken, one.total, one.communicators, one.calls);
}

template <typename T>
concept Travels = requires(T& one) {
  fields(one);
};

template <Travels T>
void to_json(json& to, const T& one) {
  T copy = one;
  to = fields(copy);
}

template <Travels T>
void from_json(const json& from, T& one) {
  std::apply(
      [&from](auto&... field) {
        std::size_t i = 0;
        (from.at(i++).get_to(field), ...);
      },
      fields(one));
}

namespace {

/// The last calls; one that is not over counts, however old it is.
Snapshot shortened(Snapshot one, std::size_t last_calls) {
  const std::size_t left = one.calls.size() - std::min(one.calls.size(), last_calls);
  const auto first = one.calls.begin() + static_cast<std::ptrdiff_t>(left);
  one.calls.erase(std::remove_if(one.calls.begin(), first, [](const SeenCall& call) { return call.end != 0; }), first);
  return one;
}

/// Whoever sent it may be of another version, or mean harm.
bool is_sound(const SeenCall& call, const Snapshot& of) {
  return is_sound(call.facts, call.state) && row_of(call.facts.communicator) < of.communicators.size();
}

}  // namespace

std::string to_bytes(const Job& job, std::size_t last_calls) {
  json all = json::array();
  for (const Snapshot& one : job) all.push_back(shortened(one, last_calls));
  std::string bytes;
  json::to_cbor(all, bytes);
  return bytes;
}

Job from_bytes(std::string_view bytes) {
  Job job;
  try {
    json::from_cbor(bytes.begin(), bytes.end()).get_to(job);
  } catch (const json::exception&) {
    job.clear();
  }
  for (Snapshot& one : job) std::erase_if(one.calls, [&one](const SeenCall& call) { return !is_sound(call, one); });
  return job;
}

}  // namespace tutti::detail::flight
