// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <unordered_map>

#include "replay/formats.hpp"
#include "replay/timeline.hpp"

namespace tutti::commbench::replay {
namespace {

std::optional<Operation> find_operation(const std::string& name) {
  for (const Operation operation : all_operations)
    if (operation_name(operation) == name) return operation;
  return std::nullopt;
}

Datatype find_type(const Record& call) {
  const std::string name = call.text("datatype", "uint8");
  for (int kind = 1; kind < static_cast<int>(DatatypeKind::bytes); ++kind)
    if (name == datatype_name(static_cast<DatatypeKind>(kind))) return static_cast<DatatypeKind>(kind);
  if (name != datatype_name(DatatypeKind::bytes)) call.fail("datatype", "a datatype of this version");
  return Datatype::bytes(1);  // how long an element was is not known, and moves the same bytes
}

ReduceKind find_op(const Record& call) {
  const std::string name = call.text("op");
  for (int kind = 1; kind <= static_cast<int>(ReduceKind::user); ++kind)
    if (name == reduce_op_name(static_cast<ReduceKind>(kind))) return static_cast<ReduceKind>(kind);
  call.fail("op", "an operation of this version");
}

std::vector<std::size_t> elements(const Record& call, const char* field, std::size_t unit, std::size_t ranks) {
  std::vector<std::size_t> all = call.counts(field);
  if (all.size() != ranks) call.fail(field, fmt::format("a list of {} numbers, one for each rank", ranks));
  for (std::size_t& one : all) {
    if (one % unit != 0) call.fail(field, fmt::format("a list of multiples of {}, the bytes of an element", unit));
    one /= unit;
  }
  return all;
}

int peer_of(const Record& call, const char* field, std::size_t ranks) {
  const std::int64_t peer = call.number(field);
  if (peer < 0 || static_cast<std::size_t>(peer) >= ranks) call.fail(field, fmt::format("a rank below {}", ranks));
  return static_cast<int>(peer);
}

/// The events of one rank in a trace of Tutti.
class TuttiReader {
 public:
  TuttiReader(JsonFile& file, int rank) : file_(file), rank_(rank), timeline_(recording_) {
    recording_.format = "tutti";
  }

  Recording read() {
    constexpr int depth_of_events = 2;
    file_.read(depth_of_events, [this](int depth, const nlohmann::json& object) {
      const Record record(file_, object);
      if (depth == 1 && record.has("writer")) read_head(record);
      if (depth == depth_of_events && record.has("ph")) read_event(record);
    });
    if (!has_head_) file_.fail("'otherData' has no 'communicators'; trace the job again with this version of Tutti");
    recording_.has_times = true;
    end_untouched();
    timeline_.finish(first_);
    return std::move(recording_);
  }

 private:
  void read_head(const Record& head) {
    for (const Record& one : head.objects("communicators")) {
      const std::string mark = one.text("mark");
      marks_[mark] = recording_.groups.size();
      recording_.groups.push_back({mark, one.text("name", ""), one.ranks("world_ranks")});
    }
    has_head_ = true;
  }

  void read_event(const Record& event) {
    const std::int64_t rank = event.number("pid");
    const std::string phase = event.text("ph");
    if (phase == "M" && event.text("name") == "process_name")
      recording_.ranks = std::max(recording_.ranks, static_cast<int>(rank) + 1);
    if (phase != "X" || event.text("cat") == "range") return;
    first_ = std::min(first_, event.seconds("ts", microsecond));
    if (rank == rank_) read_slice(event, event.object("args"));
  }

  void read_slice(const Record& event, const Record& call) {
    const double begin = event.seconds("ts", microsecond);
    const double length = event.seconds("dur", microsecond);
    if (event.text("cat") == "wait") return end_wait(call.number("request"), begin, length);
    const std::string form = call.text("form");
    auto recorded = recorded_call(event, call);
    if (!recorded) return;
    if (form == "blocking") return timeline_.run(std::move(*recorded), begin, length);
    if (form == "init") return make(std::move(*recorded), call);
    if (form == "start" && !find_made(*recorded, call)) return leave_out("persistent group");
    recorded->mode = form == "start" && recorded->exchange.operation ? Mode::persistent : Mode::nonblocking;
    const std::size_t number = timeline_.start(std::move(*recorded), begin);
    open_[call.number("request")] = number;
    if (call.has("took")) ends_[number] = begin + call.seconds("took", microsecond);
  }

  /// One wait a request; the program may also find by tests that a call is over.
  void end_wait(std::int64_t request, double begin, double length) {
    const auto found = open_.find(request);
    if (found == open_.end()) return;
    timeline_.wait(found->second, begin, length);
    open_.erase(found);
  }

  /// The calls for which the program did not wait.
  void end_untouched() {
    for (const auto& [request, number] : open_)
      if (const auto end = ends_.find(number); end != ends_.end()) timeline_.wait(number, end->second, 0.0);
  }

  void make(RecordedCall&& call, const Record& facts) {
    if (!call.exchange.operation) return;  // a persistent message tells peer and tag at each start
    call.mode = Mode::persistent;
    made_[{call.group, facts.number("sequence")}] = recording_.made.size();
    recording_.made.push_back(std::move(call));
  }

  bool find_made(RecordedCall& call, const Record& facts) {
    if (!call.exchange.operation) return !call.exchange.messages.empty();
    const auto found = made_.find({call.group, facts.number("sequence")});
    if (found == made_.end()) return false;
    call = recording_.made[found->second];
    call.made = found->second;
    return true;
  }

  void leave_out(const std::string& name) { ++recording_.left_out[name]; }

  std::optional<RecordedCall> recorded_call(const Record& event, const Record& call) {
    const std::string name = call.text("call");
    const auto operation = find_operation(name);
    const bool is_message = name == "send" || name == "recv" || name == "group";
    const auto group = marks_.find(call.text("mark", ""));
    const bool is_over = call.text("state") == "done";
    if ((!operation && !is_message) || !is_over || group == marks_.end()) {
      leave_out(is_over ? event.text("name") : "unfinished " + event.text("name"));
      return std::nullopt;
    }
    RecordedCall recorded;
    recorded.group = group->second;
    const std::size_t ranks = recording_.groups[group->second].world_ranks.size();
    if (operation)
      read_collective(call, *operation, ranks, recorded.exchange);
    else
      read_messages(call, name, ranks, recorded.exchange.messages);
    return recorded;
  }

  static void read_collective(const Record& call, Operation operation, std::size_t ranks, Exchange& exchange) {
    const OperationTraits& row = traits_of(operation);
    exchange.operation = operation;
    exchange.type = find_type(call);
    const std::size_t unit = exchange.type.size();
    if (row.combines()) exchange.op = find_op(call);
    if (row.has_root()) exchange.root = peer_of(call, "root", ranks);
    const bool is_start = call.text("form") == "start";  // whose counts are those of its init
    if (!row.has_counts()) exchange.count = call.count("bytes") / unit;
    if (!row.has_counts() || is_start) return;
    exchange.send_counts = elements(call, "send_bytes", unit, ranks);
    exchange.recv_counts = elements(call, "recv_bytes", unit, ranks);
  }

  static void read_messages(const Record& call, const std::string& name, std::size_t ranks,
                            std::vector<Message>& messages) {
    const auto add = [&](const Record& one, const char* peer, bool is_recv) {
      if (one.number(peer, -1) < 0) return;  // to nobody
      messages.push_back({is_recv, peer_of(one, peer, ranks), static_cast<int>(one.number("tag")), one.count("bytes")});
    };
    if (name != "group") return add(call, "peer", name == "recv");
    if (!call.has("messages")) return;
    for (const Record& one : call.objects("messages")) {
      const bool is_recv = one.has("source");
      add(one, is_recv ? "source" : "destination", is_recv);
    }
  }

  JsonFile& file_;
  int rank_;
  Recording recording_{};
  Timeline timeline_;
  bool has_head_ = false;
  double first_ = std::numeric_limits<double>::infinity();
  std::unordered_map<std::string, std::size_t> marks_{};
  std::unordered_map<std::int64_t, std::size_t> open_{};  ///< calls by their requests
  std::unordered_map<std::size_t, double> ends_{};
  std::map<std::tuple<std::size_t, std::int64_t>, std::size_t> made_{};
};

}  // namespace

Recording read_tutti_trace(JsonFile& file, int rank) { return TuttiReader(file, rank).read(); }

}  // namespace tutti::commbench::replay
