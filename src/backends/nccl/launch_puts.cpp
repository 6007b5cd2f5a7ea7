// SPDX-License-Identifier: BSD-3-Clause
// A start of a call that puts. NCCL counts the signals from each rank in one number, whatever they mean, and a wait
// takes the next ones. Each rank sends another at most two in a start, in this order: that it may put ("ready"), and
// that its own piece is there. The other waits for them in this order, and for one of them just where the first sends
// it: both know the bytes of each piece, which were compared at the _init. All starts of a communicator come on its own
// stream, in the same order on all ranks. So the n-th signal that a rank sends to another is the n-th that it waits
// for.
#include <utility>
#include <vector>

#include "backends/nccl/launch.hpp"
#include "backends/nccl/launch_group.hpp"
#include "backends/nccl/puts.hpp"

namespace tutti::detail::nccl {
namespace {

class Putting final : public Parts {
 public:
  Putting(const Launch& launch, const schedules::Schedule& schedule, bool connects)
      : launch_(launch),
        schedule_(schedule),
        words_(words_to_move(launch.plan.signature.type)),
        step_(connects && launch.size > 1 ? Step::greet : Step::tell_ready) {}

  std::optional<LaunchingCall> next() override {
    while (step_ != Step::done) {
      const Step now = step_;
      step_ = static_cast<Step>(static_cast<int>(now) + 1);
      if (auto call = make(now)) return call;
    }
    return std::nullopt;
  }

 private:
  enum class Step { greet, meet, tell_ready, await_ready, put, copy_own, await_pieces, done };

  [[nodiscard]] std::optional<LaunchingCall> make(Step step);
  [[nodiscard]] std::optional<LaunchingCall> signal(const std::vector<int>& peers) const;
  [[nodiscard]] std::optional<LaunchingCall> await(const std::vector<int>& peers);
  [[nodiscard]] std::optional<LaunchingCall> put() const;
  [[nodiscard]] WindowHandle window_of(const Put& put) const;
  void post(const Group& group, const Put& put, WindowHandle window) const;
  void copy_own() const;
  [[nodiscard]] std::vector<int> targets() const;
  [[nodiscard]] int neighbour(int distance) const { return (launch_.rank + distance + launch_.size) % launch_.size; }

  Launch launch_;
  const schedules::Schedule& schedule_;
  Words words_;
  Step step_;
  std::vector<SignalWait> waits_{};
};

/// The first use of a communicator waits for all ranks, also for those that have nothing to put.
std::optional<LaunchingCall> Putting::make(Step step) {
  switch (step) {
    case Step::greet:
      return signal({neighbour(1)});
    case Step::meet:
      return await({neighbour(-1)});
    case Step::tell_ready:
      return signal(launch_.puts->sources);
    case Step::await_ready:
      return await(targets());
    case Step::put:
      return put();
    case Step::copy_own:
      copy_own();
      return std::nullopt;
    case Step::await_pieces:
      return await(launch_.puts->sources);
    case Step::done:
      break;
  }
  return std::nullopt;
}

std::optional<LaunchingCall> Putting::signal(const std::vector<int>& peers) const {
  if (peers.empty()) return std::nullopt;
  Group group(launch_.comm);
  for (const int peer : peers)
    group.take(launch_.comm.table().signal(peer, 0, 0, 0, launch_.comm.handle(), launch_.stream), "ncclSignal");
  return group.end();
}

std::optional<LaunchingCall> Putting::await(const std::vector<int>& peers) {
  if (peers.empty()) return std::nullopt;
  waits_.clear();
  for (const int peer : peers) waits_.push_back({.count = 1, .peer = peer});
  return LaunchingCall{launch_.comm.table().wait_signal(static_cast<int>(waits_.size()), waits_.data(),
                                                        launch_.comm.handle(), launch_.stream),
                       "ncclWaitSignal"};
}

std::optional<LaunchingCall> Putting::put() const {
  const std::vector<Put>& puts = launch_.puts->puts;
  if (puts.empty()) return std::nullopt;
  std::vector<WindowHandle> windows;  // before the group, which launches what it has
  for (const Put& put : puts) windows.push_back(window_of(put));
  Group group(launch_.comm);
  for (std::size_t i = 0; i < puts.size(); ++i) post(group, puts[i], windows[i]);
  return group.end();
}

WindowHandle Putting::window_of(const Put& put) const {
  if (auto* const window = launch_.comm.window_of_range(put.range)) return window;
  throw Error(ErrorCode::invalid_argument,
              "a rank has freed its part of the memory that another rank receives in; keep the parts of all ranks "
              "until the request is gone");
}

void Putting::post(const Group& group, const Put& put, WindowHandle window) const {
  group.take(launch_.comm.table().put_signal(launch_.buffers.read_address(put.from), put.from.count * words_.words,
                                             words_.type, put.peer, window, put.offset, 0, 0, 0, launch_.comm.handle(),
                                             launch_.stream),
             "ncclPutSignal");
}

void Putting::copy_own() const {
  for (const schedules::Round& round : schedule_.rounds) launch_.buffers.run_locals(round, launch_.stream);
}

std::vector<int> Putting::targets() const {
  std::vector<int> all;
  for (const Put& put : launch_.puts->puts) all.push_back(put.peer);
  return all;
}

}  // namespace

std::unique_ptr<Parts> put_parts(const Launch& launch, const schedules::Schedule& schedule, bool connects) {
  return std::make_unique<Putting>(launch, schedule, connects);
}

}  // namespace tutti::detail::nccl
