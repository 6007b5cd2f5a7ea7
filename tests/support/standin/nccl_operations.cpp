// SPDX-License-Identifier: BSD-3-Clause
// The stand-in's collectives, messages, groups and operations of reductions.
#include <algorithm>
#include <cstring>
#include <utility>

#include "support/standin/nccl_functions.hpp"

namespace tutti::standin {
namespace {

using Kind = Operation::Kind;

/// What this thread has called since group_start.
struct Group {
  struct Member {
    NcclComm* comm;
    Operation operation;
    StreamHandle stream;
  };
  int depth = 0;
  Result error = Result::success;
  std::vector<Member> members{};
};
thread_local Group group;

Result check(NcclState& state, const NcclComm& comm, const Operation& o) {
  if (bytes_of(o.type) == 0) return state.violate(o.name() + ": no such type");
  if (o.type >= DataType::float8_e4m3 && state.version < detail::nccl::version_of_float8)
    return state.violate(o.name() + ": this version has no 8-bit floats");
  if (o.peer < 0 || o.peer >= comm.members.size()) return state.violate(o.name() + ": no such rank");
  if (o.is_one_sided()) return check_one_sided(state, comm, o);
  if (o.op > RedOp::avg && !o.factor) return state.violate(o.name() + ": no such operation");
  if (o.factor && o.factor->type != o.type) return state.violate(o.name() + ": the operation is of another type");
  return Result::success;
}

/// NCCL takes what the device can reach.
bool is_reachable(Runtime& runtime, const Operation& o, const void* address, bool is_used) {
  return o.count == 0 || !is_used || (address != nullptr && runtime.kind_of(address) != MemoryKind::host);
}

bool reaches_all(Runtime& runtime, const Operation& o, int rank) {
  const bool is_root = rank == o.peer;
  if (o.is_one_sided()) return is_reachable(runtime, o, o.in, true);
  const bool reads = o.kind != Kind::recv && ((o.kind != Kind::broadcast && o.kind != Kind::scatter) || is_root);
  const bool writes = o.kind != Kind::send && ((o.kind != Kind::reduce && o.kind != Kind::gather) || is_root);
  return is_reachable(runtime, o, o.in, reads) && is_reachable(runtime, o, o.out, writes);
}

void release_graph(void* comm) { --static_cast<NcclComm*>(comm)->graphs; }

/// One launch for each communicator of the group, in the order of their first calls.
Result launch(std::vector<Group::Member>& members) {
  std::vector<NcclComm*> comms;
  for (const auto& m : members)
    if (std::find(comms.begin(), comms.end(), m.comm) == comms.end()) comms.push_back(m.comm);
  std::vector<std::shared_ptr<Launch>> launches;
  auto& state = *current_nccl;
  for (NcclComm* comm : comms) {
    bool is_captured = false;
    for (const auto& m : members)
      if (m.comm == comm) is_captured |= state.runtime->is_captured(m.stream);
    launches.push_back(std::make_shared<Launch>(*comm, is_captured));
    for (const auto& m : members)
      if (m.comm == comm) launches.back()->add(m.operation, m.stream);
    if (const std::string broken = launches.back()->broken_rule(); !broken.empty()) {
      const std::lock_guard lock(state.mutex);
      return state.violate(broken);
    }
    if (!is_captured) continue;
    const auto first = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.comm == comm; });
    ++comm->graphs;
    state.runtime->retain_by_graph(first->stream, release_graph, comm);
  }
  Result answer = Result::success;
  {
    const std::lock_guard lock(state.mutex);
    const bool hangs = std::exchange(state.hangs_work, false);
    for (const auto& one : launches) one->take_ticket(hangs);
    for (std::size_t i = 0; i < comms.size(); ++i) {
      if (launches[i]->has_collectives()) ++comms[i]->collectives;
      comms[i]->pending.push_back(launches[i]);
      launches[i]->connect();
      if (accept(*comms[i]) == Result::in_progress) answer = Result::in_progress;
    }
  }
  if (answer == Result::success)
    for (NcclComm* comm : comms) (void)advance(*comm);
  for (NcclComm* comm : comms)
    if (comm->is_blocking) answer = block_on(*comm, answer);
  return answer;
}

void meet_other_threads(NcclState& state) {
  if (!state.within_launch) return;
  state.is_launching = true;
  std::exchange(state.within_launch, nullptr)();
  state.is_launching = false;
}

}  // namespace

Result submit(CommHandle handle, Operation o, StreamHandle stream) {
  auto& state = *current_nccl;
  meet_other_threads(state);
  NcclComm* comm = nullptr;
  Result result = Result::success;
  {
    const std::lock_guard lock(state.mutex);
    const Result accepted = tell(state, o);
    std::string arguments = o.text();
    arguments = arguments.substr(o.name().size() + 1);
    arguments.pop_back();
    const auto ordered = state.enter(o.name(), arguments);
    state.last_thread = std::this_thread::get_id();
    comm = state.ready(handle, o.name());
    if (ordered)
      result = *ordered;
    else if (accepted != Result::success)
      result = accepted;
    else if (comm == nullptr)
      result = Result::invalid_usage;
    else if (comm->error != Result::success)
      result = comm->error;
    else {
      if (o.op > RedOp::avg && comm->factors.contains(static_cast<int>(o.op)))
        o.factor = comm->factors.at(static_cast<int>(o.op));
      result = check(state, *comm, o);
    }
  }
  if (result == Result::success && !reaches_all(*state.runtime, o, comm->members.rank)) {
    const std::lock_guard lock(state.mutex);
    result = state.violate(o.text() + " on memory of the host");
  }
  if (group.depth == 0) {
    std::vector<Group::Member> alone{{comm, o, stream}};
    return result == Result::success ? launch(alone) : result;
  }
  if (result == Result::success)
    group.members.push_back({comm, o, stream});
  else
    group.error = result;
  return result;
}

namespace {

Result group_start() {
  const std::lock_guard lock(current_nccl->mutex);
  if (const auto ordered = current_nccl->enter("group_start", "")) return *ordered;
  ++group.depth;
  return Result::success;
}

Result group_end() {
  {
    const std::lock_guard lock(current_nccl->mutex);
    const auto ordered = current_nccl->enter("group_end", "");
    if (group.depth == 0) return current_nccl->violate("group_end without group_start");
    if (ordered) group.error = *ordered;
  }
  if (--group.depth > 0) return Result::success;
  Group whole = std::exchange(group, Group{});
  if (whole.error != Result::success) return whole.error;
  return whole.members.empty() ? Result::success : launch(whole.members);
}

Result send(const void* in, std::size_t n, DataType t, int peer, CommHandle c, StreamHandle s) {
  return submit(c, {Kind::send, in, nullptr, n, t, RedOp::sum, {}, peer}, s);
}
Result recv(void* out, std::size_t n, DataType t, int peer, CommHandle c, StreamHandle s) {
  return submit(c, {Kind::recv, nullptr, out, n, t, RedOp::sum, {}, peer}, s);
}
Result all_reduce(const void* in, void* out, std::size_t n, DataType t, RedOp op, CommHandle c, StreamHandle s) {
  return submit(c, {Kind::all_reduce, in, out, n, t, op, {}, 0}, s);
}
Result reduce(const void* in, void* out, std::size_t n, DataType t, RedOp op, int root, CommHandle c, StreamHandle s) {
  return submit(c, {Kind::reduce, in, out, n, t, op, {}, root}, s);
}
Result broadcast(const void* in, void* out, std::size_t n, DataType t, int root, CommHandle c, StreamHandle s) {
  return submit(c, {Kind::broadcast, in, out, n, t, RedOp::sum, {}, root}, s);
}
Result all_gather(const void* in, void* out, std::size_t n, DataType t, CommHandle c, StreamHandle s) {
  return submit(c, {Kind::all_gather, in, out, n, t, RedOp::sum, {}, 0}, s);
}
Result reduce_scatter(const void* in, void* out, std::size_t n, DataType t, RedOp op, CommHandle c, StreamHandle s) {
  return submit(c, {Kind::reduce_scatter, in, out, n, t, op, {}, 0}, s);
}
Result all_to_all(const void* in, void* out, std::size_t n, DataType t, CommHandle c, StreamHandle s) {
  return submit(c, {Kind::all_to_all, in, out, n, t, RedOp::sum, {}, 0}, s);
}
Result gather(const void* in, void* out, std::size_t n, DataType t, int root, CommHandle c, StreamHandle s) {
  return submit(c, {Kind::gather, in, out, n, t, RedOp::sum, {}, root}, s);
}
Result scatter(const void* in, void* out, std::size_t n, DataType t, int root, CommHandle c, StreamHandle s) {
  return submit(c, {Kind::scatter, in, out, n, t, RedOp::sum, {}, root}, s);
}

Result create_pre_mul_sum(RedOp* op, void* scalar, DataType type, ScalarResidence residence, CommHandle handle) {
  auto& state = *current_nccl;
  const std::lock_guard lock(state.mutex);
  if (const auto ordered = state.enter("red_op_create_pre_mul_sum", name_of(type))) return *ordered;
  NcclComm* comm = state.ready(handle, "red_op_create_pre_mul_sum");
  if (comm == nullptr) return Result::invalid_usage;
  if (bytes_of(type) == 0) return state.violate("red_op_create_pre_mul_sum: no such type");
  Factor factor{type, Bytes(bytes_of(type)), nullptr};
  if (residence == ScalarResidence::device)
    factor.on_device = scalar;
  else
    std::memcpy(factor.value.data(), scalar, factor.value.size());
  comm->factors.emplace(comm->next_op, std::move(factor));
  *op = static_cast<RedOp>(comm->next_op++);
  return Result::success;
}

Result destroy_op(RedOp op, CommHandle handle) {
  auto& state = *current_nccl;
  const std::lock_guard lock(state.mutex);
  if (const auto ordered = state.enter("red_op_destroy", "")) return *ordered;
  NcclComm* comm = state.usable(handle, "red_op_destroy");
  if (comm == nullptr) return Result::invalid_usage;
  if (comm->factors.erase(static_cast<int>(op)) == 0) return state.violate("red_op_destroy of what is no operation");
  return Result::success;
}

}  // namespace

namespace {

/// A function of the table that takes a configuration: the one without, while the thread tells it.
template <auto plain>
struct Told;
template <typename... Arguments, Result (*plain)(Arguments...)>
struct Told<plain> {
  static Result call(Arguments... arguments, const detail::nccl::CallConfig* config) {
    set_told(config);
    const Result result = plain(arguments...);
    set_told(nullptr);
    return result;
  }
};

}  // namespace

void set_operation_functions(detail::nccl::Table& table) {
  table.group_start = group_start;
  table.group_end = group_end;
  table.send = send;
  table.recv = recv;
  table.all_reduce = all_reduce;
  table.reduce = reduce;
  table.broadcast = broadcast;
  table.all_gather = all_gather;
  table.reduce_scatter = reduce_scatter;
  table.all_to_all = all_to_all;
  table.gather = gather;
  table.scatter = scatter;
  table.all_reduce_config = Told<all_reduce>::call;
  table.reduce_config = Told<reduce>::call;
  table.broadcast_config = Told<broadcast>::call;
  table.all_gather_config = Told<all_gather>::call;
  table.reduce_scatter_config = Told<reduce_scatter>::call;
  table.all_to_all_config = Told<all_to_all>::call;
  table.gather_config = Told<gather>::call;
  table.scatter_config = Told<scatter>::call;
  table.red_op_create_pre_mul_sum = create_pre_mul_sum;
  table.red_op_destroy = destroy_op;
}

detail::nccl::Table functions_of(int version) {
  detail::nccl::Table table;
  set_management_functions(table);
  set_memory_functions(table);
  set_operation_functions(table);
  set_one_sided_functions(table);
  table.version = version;
  table.orders_launches = detail::nccl::orders_launches(version);
#define TUTTI_NCCL_FUNCTION(member, symbol, since, result, arguments) \
  if (version < (since)) table.member = nullptr;
#include "backends/nccl/symbols.def"
#undef TUTTI_NCCL_FUNCTION
  return table;
}

}  // namespace tutti::standin
