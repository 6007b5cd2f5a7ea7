// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "replay/formats.hpp"
#include "replay/torch_calls.hpp"

namespace tutti::commbench::replay {
namespace {

/// "pg_id" and "req" are numbers; newer traces have texts or lists.
std::string name_in(const Record& call, const char* field) { return call.has(field) ? call.value()[field].dump() : ""; }

bool has_sizes(TorchKind kind, const TorchCall& call) {
  return kind == TorchKind::send || kind == TorchKind::recv ||
         (kind == TorchKind::collective && call.operation != Operation::barrier);
}

void read_sizes(const Record& call, TorchRecord& read) {
  read.sizes.in = call.count("in_msg_size");
  read.sizes.out = call.count("out_msg_size");
  read.type = call.text("dtype");
  if (call.has("in_split")) read.sizes.in_split = call.counts("in_split");
  if (call.has("out_split")) read.sizes.out_split = call.counts("out_split");
}

/// A root is a rank of the job.
int place_of_root(const Record& call, const std::vector<int>& members) {
  const auto root = static_cast<int>(call.number("root", members.empty() ? 0 : members.front()));
  for (std::size_t i = 0; i < members.size(); ++i)
    if (members[i] == root) return static_cast<int>(i);
  if (!members.empty()) call.fail("root", "one of the ranks in 'global_ranks'");
  return root;
}

class ParamReader {
 public:
  ParamReader(JsonFile& file, int rank, int ranks) : file_(file), rank_(rank), calls_("param", rank, ranks) {}

  Recording read() {
    constexpr int depth_of_calls = 1;
    file_.read(depth_of_calls, [this](int depth, const nlohmann::json& object) {
      if (depth == depth_of_calls) read_call(Record(file_, object));
    });
    return calls_.take(has_times_);
  }

 private:
  void read_call(const Record& call) {
    if (call.has("compute")) return calls_.leave_out("compute " + call.text("compute"));
    TorchRecord read;
    read.name = call.text("comms");
    read.group = name_in(call, "pg_id");
    read.request = name_in(call, "req");
    if (call.has("global_ranks")) groups_[read.group] = call.ranks("global_ranks");
    if (const auto found = groups_.find(read.group); found != groups_.end()) read.members = found->second;
    read.ranks = call.has("world_size") ? call.count("world_size") : 0;
    if (call.has("startTime_ns")) read.begin = call.seconds("startTime_ns", nanosecond);
    has_times_ = has_times_ || call.has("startTime_ns");
    const TorchCall known = find_torch_call(read.name);
    if (has_sizes(known.kind, known)) read_sizes(call, read);
    if (known.kind == TorchKind::collective && traits_of(known.operation).has_root())
      read.root = place_of_root(call, read.members);
    if (known.kind == TorchKind::send && call.number("src_rank") != rank_) return;  // one trace of all ranks
    if (known.kind == TorchKind::recv && call.number("dst_rank") != rank_) return;
    if (known.kind == TorchKind::send) read.peer = static_cast<int>(call.number("dst_rank"));
    if (known.kind == TorchKind::recv) read.peer = static_cast<int>(call.number("src_rank"));
    calls_.add(call, std::move(read));
  }

  JsonFile& file_;
  int rank_;
  TorchCalls calls_;
  bool has_times_ = false;
  std::map<std::string, std::vector<int>> groups_{};
};

}  // namespace

Recording read_param_trace(JsonFile& file, int rank, int ranks) { return ParamReader(file, rank, ranks).read(); }

}  // namespace tutti::commbench::replay
