// SPDX-License-Identifier: BSD-3-Clause
#include "tools/trace_file.hpp"

#include <fmt/format.h>

#include <istream>
#include <nlohmann/json.hpp>
#include <tutti/error.hpp>

namespace tutti::tools {
namespace {

constexpr double second = 1e-6;  // in microseconds

TraceSlice::Kind slice_kind(const std::string& category) {
  if (category == "range") return TraceSlice::Kind::range;
  if (category == "wait") return TraceSlice::Kind::wait;
  return category == "nonblocking" || category == "start" ? TraceSlice::Kind::start : TraceSlice::Kind::call;
}

TraceSlice slice_of(const nlohmann::json& event) {
  TraceSlice slice;
  slice.kind = slice_kind(event.at("cat").get<std::string>());
  slice.rank = event.at("pid").get<int>();
  slice.name = event.at("name").get<std::string>();
  slice.begin = second * event.at("ts").get<double>();
  slice.length = second * event.at("dur").get<double>();
  if (slice.kind == TraceSlice::Kind::range) return slice;
  const nlohmann::json& facts = event.at("args");
  slice.path = facts.at("path").get<std::string>();
  slice.bytes = facts.at("bytes").get<std::uint64_t>();
  slice.communicator = facts.value("communicator", "");
  slice.sequence = facts.value("sequence", std::uint64_t{0});
  slice.receives = facts.at("call") == "recv";
  slice.waited = second * facts.value("waited", 0.0);
  slice.waited_for = facts.value("waited_for", -1);
  return slice;
}

TraceSlice rank_of(const nlohmann::json& event) {
  TraceSlice slice{.kind = TraceSlice::Kind::rank, .rank = event.at("pid").get<int>()};
  slice.ended = event.at("args").at("ended").get<bool>();
  slice.lost = event.at("args").at("lost").get<std::uint64_t>();
  return slice;
}

}  // namespace

void read_trace(std::istream& file, const std::string& name, const std::function<void(const TraceSlice&)>& take) {
  using nlohmann::json;
  constexpr int depth_of_events = 2;
  bool is_ours = false;
  // Events are dropped once they are read: a trace may be longer than the memory.
  const auto look = [&](int depth, json::parse_event_t event, json& value) {
    if (event != json::parse_event_t::object_end) return true;
    if (value.is_object() && value.value("writer", "") == "tutti trace") is_ours = true;
    if (depth != depth_of_events || !value.contains("ph")) return true;
    if (is_ours && value.at("ph") == "X") take(slice_of(value));
    if (is_ours && value.at("name") == "process_name") take(rank_of(value));
    return false;
  };
  try {
    const json rest = json::parse(file, look);
    is_ours = is_ours && rest.contains("traceEvents");
  } catch (const json::exception& error) {
    throw Error(
        ErrorCode::io,
        fmt::format(
            "trace: {} is no whole trace; let `tutti trace merge` make it of its parts, or trace the job again: {}",
            name, error.what()));
  }
  if (!is_ours)
    throw Error(ErrorCode::io, fmt::format("trace: {} was not written by TUTTI_TRACE or `tutti trace merge`", name));
}

}  // namespace tutti::tools
