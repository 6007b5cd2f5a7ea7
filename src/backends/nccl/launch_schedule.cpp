// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>
#include <vector>

#include "backends/nccl/launch.hpp"
#include "backends/nccl/launch_group.hpp"
#include "backends/nccl/rules.hpp"

namespace tutti::detail::nccl {
namespace {

using schedules::Round;
using schedules::Transfer;

/// The sends and receives of one round.
class Messages {
 public:
  explicit Messages(const Launch& launch)
      : launch_(launch),
        words_(words_to_move(launch.plan.signature.type)),
        signals_(launch.plan.signature.operation == Operation::barrier) {}

  [[nodiscard]] bool are_in(const Round& round) const {
    return std::ranges::any_of(round.transfers, [this](const Transfer& t) { return is_message(t); });
  }
  [[nodiscard]] LaunchingCall launch(const Round& round) const;

 private:
  [[nodiscard]] bool is_message(const Transfer& t) const { return t.slice.count > 0 || signals_; }
  void post(const Group& group, const Transfer& transfer, std::size_t place) const;
  void post_signal(const Group& group, const Transfer& transfer, std::size_t place) const;
  void send(const Group& group, const void* from, std::size_t count, DataType type, int peer) const;
  void receive(const Group& group, void* to, std::size_t count, DataType type, int peer) const;

  const Launch& launch_;
  Words words_;
  bool signals_;
};

LaunchingCall Messages::launch(const Round& round) const {
  Group group(launch_.comm);
  for (std::size_t i = 0; i < round.transfers.size(); ++i)
    if (is_message(round.transfers[i])) post(group, round.transfers[i], i);
  return group.end();
}

void Messages::post(const Group& group, const Transfer& transfer, std::size_t place) const {
  if (transfer.slice.count == 0) return post_signal(group, transfer, place);
  const std::size_t count = transfer.slice.count * words_.words;
  if (transfer.kind == Transfer::Kind::send)
    send(group, launch_.buffers.read_address(transfer.slice), count, words_.type, transfer.peer);
  else
    receive(group, launch_.buffers.write_address(transfer.slice), count, words_.type, transfer.peer);
}

void Messages::post_signal(const Group& group, const Transfer& transfer, std::size_t place) const {
  std::byte* signals = launch_.buffers.signals();
  if (transfer.kind == Transfer::Kind::send)
    send(group, signals, 1, DataType::uint8, transfer.peer);
  else
    receive(group, signals + 1 + place, 1, DataType::uint8, transfer.peer);
}

void Messages::send(const Group& group, const void* from, std::size_t count, DataType type, int peer) const {
  group.take(launch_.comm.table().send(from, count, type, peer, launch_.comm.handle(), launch_.stream), "ncclSend");
}

void Messages::receive(const Group& group, void* to, std::size_t count, DataType type, int peer) const {
  group.take(launch_.comm.table().recv(to, count, type, peer, launch_.comm.handle(), launch_.stream), "ncclRecv");
}

class Rounds final : public Parts {
 public:
  Rounds(const Launch& launch, const schedules::Schedule& schedule)
      : launch_(launch), messages_(launch_), rounds_(schedule.rounds) {}

  std::optional<LaunchingCall> next() override {
    if (!std::exchange(has_begun_, true)) begin();
    for (; round_ < rounds_.size(); ++round_) {
      if (messages_.are_in(rounds_[round_]) && !std::exchange(has_sent_, true))
        return messages_.launch(rounds_[round_]);
      has_sent_ = false;
      launch_.buffers.run_locals(rounds_[round_], launch_.stream);
    }
    launch_.buffers.finish_result(launch_.stream);
    return std::nullopt;
  }

 private:
  void begin() {
    launch_.buffers.prepare_input(launch_.stream);
    if (launch_.buffers.signals() != nullptr)
      device::required_runtime("barrier").fill_zero(launch_.buffers.signals(), 1, launch_.stream);
  }

  Launch launch_;
  Messages messages_;
  const std::vector<Round>& rounds_;
  std::size_t round_ = 0;
  bool has_begun_ = false;
  bool has_sent_ = false;  ///< the messages of the round
};

}  // namespace

std::unique_ptr<Parts> schedule_parts(const Launch& launch, const schedules::Schedule& schedule) {
  return std::make_unique<Rounds>(launch, schedule);
}

std::size_t signal_bytes(const schedules::Schedule& schedule, Operation operation) {
  if (operation != Operation::barrier) return 0;
  std::size_t most = 0;
  for (const Round& round : schedule.rounds) most = std::max(most, round.transfers.size());
  return most == 0 ? 0 : most + 1;
}

}  // namespace tutti::detail::nccl
