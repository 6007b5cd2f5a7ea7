// SPDX-License-Identifier: BSD-3-Clause
// The stand-in's puts and signals: a piece comes into the window of its receiver at any moment, whatever that does.
#include <algorithm>
#include <cstring>
#include <utility>

#include "support/standin/chance.hpp"
#include "support/standin/device_arena.hpp"
#include "support/standin/nccl_functions.hpp"

namespace tutti::standin {
namespace {

using detail::nccl::Properties;
using detail::nccl::SignalWait;
using Kind = Operation::Kind;

/// What comes before a piece; a signal alone has no window.
struct Envelope {
  int rank = 0;
  std::uint64_t window = 0;
  std::uint64_t offset = 0;
};

void deliver(NcclComm& comm, const Bytes& message) {
  Envelope envelope;
  std::memcpy(&envelope, message.data(), sizeof envelope);
  const std::size_t bytes = message.size() - sizeof envelope;
  ++comm.arrived[static_cast<std::size_t>(envelope.rank)];
  if (envelope.window == 0) return;
  const auto found = std::find_if(comm.windows.begin(), comm.windows.end(),
                                  [&](const auto& window) { return window.second.number == envelope.window; });
  if (found == comm.windows.end()) {
    comm.error = comm.state->violate("a put into a window that its receiver has deregistered");
    return;
  }
  const DeviceArena::Work work;
  std::memcpy(const_cast<std::byte*>(found->second.address) + envelope.offset, message.data() + sizeof envelope, bytes);
}

/// What a rank has sent arrives in the order in which it has sent it.
void land(NcclComm& comm) {
  if (comm.arrived.empty() || comm.phase != NcclComm::Phase::ready) return;
  while (!Chance::instance().one_in(4)) {
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, tag_of(comm.members.id, Channel::put), wire(), &found, &message, &status);
    if (found == 0) return;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    Bytes data(static_cast<std::size_t>(bytes));
    MPI_Mrecv(data.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    deliver(comm, data);
  }
}

Result check_put(NcclState& state, const NcclComm& comm, const Operation& o) {
  const auto target = comm.windows.find(o.window);
  const NcclComm::Window* source = comm.window_at(o.in);
  if (target == comm.windows.end() || !target->second.is_symmetric)
    return state.violate("put_signal into what is no symmetric window");
  if (o.offset > target->second.bytes || o.bytes() > target->second.bytes - o.offset)
    return state.violate("put_signal beyond the end of the window");
  if (source == nullptr || !source->is_symmetric) return state.violate("put_signal from outside of symmetric windows");
  const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(o.in) - source->address);
  if (o.bytes() > source->bytes - at) return state.violate("put_signal from beyond the end of a window");
  return Result::success;
}

Result check_waits(NcclState& state, const NcclComm& comm, const Operation& o) {
  if (o.waits.empty()) return state.violate("wait_signal for nobody");
  for (const SignalWait& wait : o.waits)
    if (wait.count <= 0 || wait.index != 0 || wait.context != 0 || wait.peer < 0 || wait.peer >= comm.members.size())
      return state.violate("wait_signal for no signal, of no rank, or of an index or context other than 0");
  return Result::success;
}

Result put_signal(const void* in, std::size_t n, DataType type, int peer, WindowHandle window, std::size_t offset,
                  int index, int context, unsigned flags, CommHandle comm, StreamHandle stream) {
  if (index != 0 || context != 0 || flags != 0) return current_nccl->violate("put_signal: an argument must be 0");
  return submit(comm, {Kind::put_signal, in, nullptr, n, type, RedOp::sum, {}, peer, window, offset, {}}, stream);
}

Result signal(int peer, int index, int context, unsigned flags, CommHandle comm, StreamHandle stream) {
  if (index != 0 || context != 0 || flags != 0) return current_nccl->violate("signal: an argument must be 0");
  return submit(comm, {Kind::signal, nullptr, nullptr, 0, DataType::uint8, RedOp::sum, {}, peer, nullptr, 0, {}},
                stream);
}

Result wait_signal(int count, SignalWait* waits, CommHandle comm, StreamHandle stream) {
  std::vector<SignalWait> all;
  if (waits != nullptr && count > 0) all.assign(waits, waits + count);
  return submit(
      comm, {Kind::wait_signal, nullptr, nullptr, 0, DataType::uint8, RedOp::sum, {}, 0, nullptr, 0, std::move(all)},
      stream);
}

Result query_properties(CommHandle handle, Properties* properties) {
  auto& state = *current_nccl;
  const std::lock_guard lock(state.mutex);
  if (const auto ordered = state.enter("comm_query_properties", "")) return *ordered;
  const NcclComm* comm = state.ready(handle, "comm_query_properties");
  if (comm == nullptr) return Result::invalid_usage;
  if (properties->magic != 0xcafebeefU || static_cast<int>(properties->version) > state.version)
    return state.violate("comm_query_properties: not initialised, or for another version");
  if (comm->windows_made == 0)
    return state.violate("comm_query_properties before any window: it would wait for the other ranks");
  properties->rank = comm->members.rank;
  properties->ranks = comm->members.size();
  properties->has_host_rma = state.has_host_rma;
  return Result::success;
}

}  // namespace

Result check_one_sided(NcclState& state, const NcclComm& comm, const Operation& o) {
  if (!state.has_host_rma) return state.violate(o.name() + " where NCCL has no host RMA");
  if (o.kind == Kind::wait_signal) return check_waits(state, comm, o);
  if (o.peer == comm.members.rank) return state.violate(o.name() + " to the own rank: a copy does it");
  return o.kind == Kind::put_signal ? check_put(state, comm, o) : Result::success;
}

std::string Launch::broken_rule() const {
  const auto is = [](const Operation& o) { return o.is_one_sided(); };
  if (std::none_of(operations_.begin(), operations_.end(), is)) return {};
  if (!std::all_of(operations_.begin(), operations_.end(), is))
    return "a group of one-sided and other operations, whose order is not told";
  if (is_captured_) return "a one-sided operation under capture, which has counters of its own";
  const bool waits =
      std::any_of(operations_.begin(), operations_.end(), [](const auto& o) { return o.kind == Kind::wait_signal; });
  return waits && operations_.size() > 1 ? "a wait for signals in a group, whose order is not told" : "";
}

/// The waits for a rank's signals take them in the order of launches.
void Launch::expect_signals() {
  const auto size = static_cast<std::size_t>(comm_->members.size());
  comm_->arrived.resize(size);
  comm_->awaited.resize(size);
  comm_->state->has_one_sided = true;
  for (const Operation& o : operations_)
    for (const SignalWait& wait : o.waits) {
      auto& awaited = comm_->awaited[static_cast<std::size_t>(wait.peer)];
      awaited += static_cast<std::uint64_t>(wait.count);
      expected_.emplace_back(wait.peer, awaited);
    }
}

bool Launch::is_signalled() const {
  return std::all_of(expected_.begin(), expected_.end(), [this](const auto& signals) {
    return comm_->arrived[static_cast<std::size_t>(signals.first)] >= signals.second;
  });
}

void Launch::send_piece(const Operation& o) {
  Envelope envelope;
  envelope.rank = comm_->members.rank;
  envelope.offset = o.offset;
  if (o.kind == Kind::put_signal) envelope.window = comm_->windows.at(o.window).number;
  const auto message = std::make_shared<Bytes>(sizeof envelope + o.bytes());
  std::memcpy(message->data(), &envelope, sizeof envelope);
  if (o.bytes() > 0) std::memcpy(message->data() + sizeof envelope, o.in, o.bytes());
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(message->data(), static_cast<int>(message->size()), MPI_BYTE,
            comm_->members.world[static_cast<std::size_t>(o.peer)], tag_of(comm_->members.id, Channel::put), wire(),
            &request);
  sent_.emplace_back(request, message);
}

/// One more piece in each step.
bool Launch::go_on_one_sided() {
  land(*comm_);
  if (!has_room()) return false;
  if (operations_.front().kind == Kind::wait_signal) return is_signalled();
  if (sent_.size() < operations_.size()) send_piece(operations_[sent_.size()]);
  if (sent_.size() < operations_.size()) return false;
  bool all = true;
  for (auto& [request, message] : sent_) all &= is_done(request);
  return all;
}

void land_all() {
  NcclState* state = current_nccl;
  if (state == nullptr || !state->has_one_sided || !may_use_wire()) return;
  const std::unique_lock lock(state->mutex, std::try_to_lock);
  if (!lock) return;
  for (const auto& comm : state->comms) land(*comm);
}

void set_one_sided_functions(detail::nccl::Table& table) {
  table.comm_query_properties = query_properties;
  table.put_signal = put_signal;
  table.signal = signal;
  table.wait_signal = wait_signal;
}

}  // namespace tutti::standin
