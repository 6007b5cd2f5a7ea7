// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "backends/nccl/launch.hpp"
#include "backends/nccl/rules.hpp"

namespace tutti::detail::nccl {
namespace {

using schedules::Round;
using schedules::Transfer;

/// Collects NCCL calls from its construction to end(), which launches them together.
class Group {
 public:
  explicit Group(const Launch& launch) : launch_(launch) {
    launch_.check(launch_.comm.table().group_start(), "ncclGroupStart");
  }
  /// After a failure inside the group NCCL must stop collecting.
  ~Group() {
    if (is_open_) (void)launch_.comm.table().group_end();
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  void end() {
    is_open_ = false;
    launch_.check(launch_.comm.table().group_end(), "ncclGroupEnd");
  }

 private:
  const Launch& launch_;
  bool is_open_ = true;
};

/// The sends and receives of one round.
class Messages {
 public:
  explicit Messages(const Launch& launch)
      : launch_(launch),
        words_(words_to_move(launch.plan.signature.type)),
        signals_(launch.plan.signature.operation == Operation::barrier) {}

  void run(const Round& round) const;

 private:
  [[nodiscard]] bool is_message(const Transfer& t) const { return t.slice.count > 0 || signals_; }
  void post(const Transfer& transfer, std::size_t place) const;
  void post_signal(const Transfer& transfer, std::size_t place) const;
  void send(const void* from, std::size_t count, DataType type, int peer) const;
  void receive(void* to, std::size_t count, DataType type, int peer) const;

  const Launch& launch_;
  Words words_;
  bool signals_;
};

void Messages::run(const Round& round) const {
  if (std::ranges::none_of(round.transfers, [this](const Transfer& t) { return is_message(t); })) return;
  Group group(launch_);
  for (std::size_t i = 0; i < round.transfers.size(); ++i)
    if (is_message(round.transfers[i])) post(round.transfers[i], i);
  group.end();
  launch_.has_launched = true;
}

void Messages::post(const Transfer& transfer, std::size_t place) const {
  if (transfer.slice.count == 0) return post_signal(transfer, place);
  const std::size_t count = transfer.slice.count * words_.words;
  if (transfer.kind == Transfer::Kind::send)
    send(launch_.buffers.read_address(transfer.slice), count, words_.type, transfer.peer);
  else
    receive(launch_.buffers.write_address(transfer.slice), count, words_.type, transfer.peer);
}

void Messages::post_signal(const Transfer& transfer, std::size_t place) const {
  std::byte* signals = launch_.buffers.signals();
  if (transfer.kind == Transfer::Kind::send)
    send(signals, 1, DataType::uint8, transfer.peer);
  else
    receive(signals + 1 + place, 1, DataType::uint8, transfer.peer);
}

void Messages::send(const void* from, std::size_t count, DataType type, int peer) const {
  launch_.check(launch_.comm.table().send(from, count, type, peer, launch_.comm.handle(), launch_.stream), "ncclSend");
}

void Messages::receive(void* to, std::size_t count, DataType type, int peer) const {
  launch_.check(launch_.comm.table().recv(to, count, type, peer, launch_.comm.handle(), launch_.stream), "ncclRecv");
}

}  // namespace

void launch_schedule(const Launch& launch, const schedules::Schedule& schedule) {
  launch.buffers.prepare_input(launch.stream);
  if (launch.buffers.signals() != nullptr)
    device::required_runtime("barrier").fill_zero(launch.buffers.signals(), 1, launch.stream);
  const Messages messages(launch);
  for (const Round& round : schedule.rounds) {
    messages.run(round);
    launch.buffers.run_locals(round, launch.stream);
  }
  launch.buffers.finish_result(launch.stream);
}

std::size_t signal_bytes(const schedules::Schedule& schedule, Operation operation) {
  if (operation != Operation::barrier) return 0;
  std::size_t most = 0;
  for (const Round& round : schedule.rounds) most = std::max(most, round.transfers.size());
  return most == 0 ? 0 : most + 1;
}

}  // namespace tutti::detail::nccl
