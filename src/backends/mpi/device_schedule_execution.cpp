// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/device_schedule_execution.hpp"

#include <algorithm>
#include <array>
#include <mutex>

#include "backends/device/retired.hpp"
#include "backends/device/work_stream.hpp"
#include "backends/mpi/message.hpp"
#include "call/context.hpp"
#include "call/deferred_free.hpp"
#include "call/schedule_rules.hpp"
#include "device/traffic.hpp"
#include "schedules/registry.hpp"

namespace tutti::detail {

using schedules::Round;
using schedules::Transfer;

namespace {

/// Memory that work on the stream or a message uses; it outlives an execution that ends first.
struct Memory {
  DeviceBuffers buffers;
  std::array<device::Block, 2> bounce;  ///< for even and odd rounds: one is filled while the other is emptied
};

std::size_t round_bytes(const Round& round, std::size_t unit) {
  std::size_t elements = 0;
  for (const Transfer& transfer : round.transfers) elements += transfer.slice.count;
  return elements * unit;
}

}  // namespace

struct DeviceScheduleExecution::State {
  State(const Context& comm_state, std::shared_ptr<const Plan> the_plan, Binding the_binding, int the_tag,
        const Stream& stream);
  ~State();

  void restart();
  [[nodiscard]] bool may_be_direct() const;
  void acquire_bounce();
  void launch_round();
  void post_round();
  [[nodiscard]] bool has_arrived();
  void end_round();
  /// Returns true once all remaining work is on the stream.
  bool go_on();

  template <typename Do>
  void each(Transfer::Kind kind, Do&& act) {
    std::size_t offset = 0;
    const auto& transfers = round().transfers;
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      const std::size_t bytes = transfers[i].slice.count * memory->buffers.unit();
      std::byte* bounced = is_direct ? nullptr : memory->bounce[index % 2].data() + offset;
      if (transfers[i].kind == kind) act(transfers[i], i, bounced, bytes);
      offset += bytes;
    }
  }
  [[nodiscard]] const Round& round() const { return schedule->rounds[index]; }

  const Context& comm;
  std::shared_ptr<const Plan> plan;
  Binding binding;
  int tag;
  Stream caller;
  WorkStream work;
  std::shared_ptr<const schedules::Schedule> schedule;
  std::unique_ptr<Memory> memory = std::make_unique<Memory>();
  std::vector<MPI_Request> requests;
  std::size_t next = 0;  ///< all earlier requests are complete
  std::size_t index = 0;
  device::Event begun;
  device::Event ready;  ///< the work that the round's messages need is done
  device::Event done;
  bool is_posted = false;
  bool is_direct = false;
  bool has_bounce = false;
  bool all_out = false;
  bool in_use = false;  ///< true while work on a stream may use the memory
  std::mutex mutex;
};

DeviceScheduleExecution::State::State(const Context& comm_state, std::shared_ptr<const Plan> the_plan,
                                      Binding the_binding, int the_tag, const Stream& stream)
    : comm(comm_state),
      plan(std::move(the_plan)),
      binding(std::move(the_binding)),
      tag(the_tag),
      caller(stream),
      work(work_stream(comm, {binding.output, binding.input})),
      schedule(bound_schedule(comm, *plan, binding)) {
  sweep_retired();
  const device::Guard guard(work.device);
  memory->buffers.acquire(*plan, *schedule, binding, comm.rank, comm.size, work.device);
  if (tutti::combines(plan->signature.operation)) DeviceBuffers::load_kernels(*plan, binding, comm.size, work.stream);
  if (!may_be_direct()) acquire_bounce();
}

DeviceScheduleExecution::State::~State() {
  if (in_use)
    retire(std::move(done), std::shared_ptr<void>(std::move(memory)));
  else if (memory)
    memory->buffers.release();
}

void DeviceScheduleExecution::State::restart() {
  index = 0;
  all_out = false;
  in_use = true;
  follow(work, caller, begun);
  memory->buffers.prepare_input(work.stream);
  if (!schedule->rounds.empty()) launch_round();
}

bool DeviceScheduleExecution::State::may_be_direct() const {
  return plan->signature.kind == CallKind::blocking && comm.device && comm.device->cuda_aware;
}

/// Allocates for all rounds at once, because a pool that grows may have to wait, and the caller may wait but the
/// progress engine may not.
void DeviceScheduleExecution::State::acquire_bounce() {
  if (has_bounce) return;
  has_bounce = true;
  std::array<std::size_t, 2> most{};
  for (std::size_t i = 0; i < schedule->rounds.size(); ++i)
    most[i % 2] = std::max(most[i % 2], round_bytes(schedule->rounds[i], memory->buffers.unit()));
  device::Pool& pool = device::Pool::of(MemoryKind::pinned, work.device);
  for (std::size_t i = 0; i < most.size(); ++i)
    if (most[i] > 0) memory->bounce[i] = pool.acquire(most[i]);
}

/// Copies outgoing data to the memory from which messages are sent.
void DeviceScheduleExecution::State::launch_round() {
  is_posted = false;
  is_direct = may_be_direct() && device::Traffic::of(work.device).is_idle();
  if (!is_direct) acquire_bounce();
  if (!is_direct)
    each(Transfer::Kind::send, [&](const Transfer& t, std::size_t, std::byte* bounced, std::size_t size) {
      if (size > 0) device::runtime()->copy(bounced, memory->buffers.read_address(t.slice), size, work.stream);
    });
  if (!round().transfers.empty()) ready.record(work.device, work.stream);
}

void DeviceScheduleExecution::State::post_round() {
  is_posted = true;
  requests.assign(round().transfers.size(), MPI_REQUEST_NULL);
  next = 0;
  each(Transfer::Kind::recv, [&](const Transfer& t, std::size_t i, std::byte* bounced, std::size_t bytes) {
    post_recv(is_direct ? memory->buffers.write_address(t.slice) : bounced, bytes, t.peer, tag, comm.messages.get(),
              requests[i]);
  });
  each(Transfer::Kind::send, [&](const Transfer& t, std::size_t i, std::byte* bounced, std::size_t bytes) {
    post_send(is_direct ? memory->buffers.read_address(t.slice) : bounced, bytes, t.peer, tag, comm.messages.get(),
              requests[i]);
  });
}

bool DeviceScheduleExecution::State::has_arrived() {
  for (; next < requests.size(); ++next) {
    MPI_Status status;
    if (!test_request(requests[next], status, "MPI_Test")) return false;
  }
  return true;
}

void DeviceScheduleExecution::State::end_round() {
  if (!is_direct)
    each(Transfer::Kind::recv, [&](const Transfer& t, std::size_t, std::byte* bounced, std::size_t bytes) {
      if (bytes > 0) device::runtime()->copy(memory->buffers.write_address(t.slice), bounced, bytes, work.stream);
    });
  memory->buffers.run_locals(round(), work.stream);
  requests.clear();
}

bool DeviceScheduleExecution::State::go_on() {
  if (all_out) return true;
  while (index < schedule->rounds.size()) {
    if (!round().transfers.empty()) {
      if (!is_posted && !ready.is_complete()) return false;
      if (!is_posted) post_round();
      if (!has_arrived()) return false;
    }
    end_round();
    if (++index < schedule->rounds.size()) launch_round();
  }
  memory->buffers.finish_result(work.stream);
  done.record(work.device, work.stream);
  all_out = true;
  return true;
}

DeviceScheduleExecution::DeviceScheduleExecution(std::shared_ptr<Context> comm_state, std::shared_ptr<const Plan> plan,
                                                 Binding binding, int tag, Stream stream,
                                                 std::chrono::nanoseconds timeout)
    : Execution(std::move(comm_state), timeout, plan->signature.kind == CallKind::persistent),
      state_(std::make_unique<State>(comm(), std::move(plan), std::move(binding), tag, stream)) {
  comm().make_messages();  // has them already where calls on device memory are prepared
}

DeviceScheduleExecution::~DeviceScheduleExecution() = default;

std::string DeviceScheduleExecution::name() const {
  std::string text(operation_name(state_->plan->signature.operation));
  return text.append(" (mpi:").append(state_->plan->algorithm->name).append(", device memory)");
}

bool DeviceScheduleExecution::begin() {
  {
    const std::lock_guard lock(state_->mutex);
    const device::Guard guard(state_->work.device);
    state_->restart();
  }
  return step();
}

bool DeviceScheduleExecution::step() {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  const device::Guard guard(s.work.device);
  if (!s.go_on()) return false;
  if (s.plan->signature.kind == CallKind::blocking && s.caller.kind == StreamKind::cuda) {
    precede(s.caller, s.done);
    return true;
  }
  if (!s.done.is_complete()) return false;
  s.in_use = false;
  return true;
}

bool DeviceScheduleExecution::order_before(device::StreamHandle stream) {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (!s.all_out || phase() != Phase::active) return false;
  const device::Guard guard(s.work.device);
  precede(Stream(StreamKind::cuda, stream), s.done);
  return true;
}

void DeviceScheduleExecution::cancel() noexcept {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  s.all_out = false;
  if (s.index < s.schedule->rounds.size())
    for (std::size_t i = 0; i < s.requests.size(); ++i)
      drop_request(s.requests[i], s.round().transfers[i].kind == Transfer::Kind::recv);
  s.requests.clear();
  s.in_use = false;
  // Messages and kernels may still use the memory.
  defer_free(std::move(s.memory));
  s.memory = nullptr;
  s.work.lease->keep();
}

}  // namespace tutti::detail
