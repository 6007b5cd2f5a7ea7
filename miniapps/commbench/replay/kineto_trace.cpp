// SPDX-License-Identifier: BSD-3-Clause
#include <unordered_map>

#include "replay/formats.hpp"
#include "replay/torch_calls.hpp"

namespace tutti::commbench::replay {
namespace {

using nlohmann::json;

/// A list that is written as a text: "[1, 2]"; empty if it is cut.
template <typename T>
std::vector<T> list_in(const Record& facts, const char* field) {
  if (!facts.has(field)) return {};
  const json& value = facts.value()[field];
  const json list = value.is_string() ? json::parse(value.get<std::string>(), nullptr, false) : value;
  if (!list.is_array()) return {};
  for (const json& one : list)
    if (!one.is_number_unsigned()) return {};
  return list.get<std::vector<T>>();
}

class KinetoReader {
 public:
  KinetoReader(JsonFile& file, int rank, int ranks) : file_(file), calls_("kineto", rank, ranks) {}

  Recording read() {
    constexpr int depth_of_events = 2;
    file_.read(depth_of_events, [this](int depth, const json& object) {
      if (depth == depth_of_events && object.contains("ph") && object["ph"] == "X") read_event(Record(file_, object));
    });
    if (has_bare_ && calls_.steps() == 0)
      file_.fail(
          "its record_param_comms events have no 'Collective name'; record it with PyTorch 2.2 or later, or pass "
          "the execution trace of the same run");
    for (const auto& [id, step] : steps_)
      if (const auto kernel = kernels_.find(id); kernel != kernels_.end()) calls_.set_length(step, kernel->second);
    return calls_.take(true);
  }

 private:
  void read_event(const Record& event) {
    if (!event.has("args") || !event.value()["args"].is_object()) return;
    const Record facts = event.object("args");
    const std::string name = event.text("name", "");
    if (event.text("cat", "") == "kernel" && name.starts_with("nccl") && facts.has("External id"))
      kernels_[facts.number("External id")] += event.seconds("dur", microsecond);
    if (name != "record_param_comms") return;
    if (facts.has("Collective name"))
      read_call(event, facts);
    else
      has_bare_ = true;
  }

  void read_call(const Record& event, const Record& facts) {
    TorchRecord call;
    call.name = facts.text("Collective name");
    call.type = facts.text("dtype", "");
    call.sizes = {static_cast<std::size_t>(facts.number("In msg nelems", 0)),
                  static_cast<std::size_t>(facts.number("Out msg nelems", 0)),
                  list_in<std::size_t>(facts, "In split size"), list_in<std::size_t>(facts, "Out split size")};
    call.group = facts.text("Process Group Name", "");
    call.ranks = facts.has("Group size") ? facts.count("Group size") : 0;
    call.members = list_in<int>(facts, "Process Group Ranks");
    if (call.members.empty()) call.members = members_by_stride(facts, call.ranks);
    call.root = static_cast<int>(facts.number("Rank", 0));
    const char* peer = find_torch_call(call.name).kind == TorchKind::send ? "Dst Rank" : "Src Rank";
    call.peer = static_cast<int>(facts.number(peer, -1));
    if (facts.has("Seq")) call.request = call.group + ":" + facts.value()["Seq"].dump();
    call.begin = event.seconds("ts", microsecond);
    call.length = event.seconds("dur", microsecond);
    const std::size_t step = calls_.steps();
    calls_.add(event, std::move(call));
    if (calls_.steps() > step && facts.has("External id")) steps_[facts.number("External id")] = step;
  }

  static std::vector<int> members_by_stride(const Record& facts, std::size_t ranks) {
    std::vector<int> members;
    if (!facts.has("Global rank start") || !facts.has("Global rank stride")) return members;
    const auto start = static_cast<int>(facts.number("Global rank start"));
    const auto stride = static_cast<int>(facts.number("Global rank stride"));
    for (std::size_t i = 0; i < ranks && start >= 0 && stride > 0; ++i)
      members.push_back(start + static_cast<int>(i) * stride);
    return members;
  }

  JsonFile& file_;
  TorchCalls calls_;
  bool has_bare_ = false;
  std::unordered_map<std::int64_t, double> kernels_{};     ///< seconds on the device by "External id"
  std::unordered_map<std::int64_t, std::size_t> steps_{};  ///< by the same
};

}  // namespace

Recording read_kineto_trace(JsonFile& file, int rank, int ranks) { return KinetoReader(file, rank, ranks).read(); }

}  // namespace tutti::commbench::replay
