// SPDX-License-Identifier: BSD-3-Clause
#include "replay/player.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <tuple>
#include <utility>

#include "device_timer.hpp"
#include "statistics.hpp"

namespace tutti::commbench::replay {
namespace {

/// Two calls of one shape need no other buffers.
using ShapeKey = std::tuple<std::size_t, int, int, int, int, std::size_t, std::vector<std::size_t>,
                            std::vector<std::size_t>, std::vector<std::size_t>, std::vector<std::size_t>>;

ShapeKey key_of(const RecordedCall& call, const std::vector<std::size_t>& offsets) {
  const Exchange& e = call.exchange;
  std::vector<std::size_t> messages;
  for (const Message& one : e.messages)
    messages.insert(messages.end(), {one.is_recv ? std::size_t{1} : 0, static_cast<std::size_t>(one.peer),
                                     static_cast<std::size_t>(one.tag), one.bytes});
  return {call.group,
          e.operation ? static_cast<int>(*e.operation) : -1,
          static_cast<int>(e.type.kind()) + 256 * static_cast<int>(call.mode),
          e.op ? static_cast<int>(*e.op) : -1,
          e.root,
          e.count,
          e.send_counts,
          e.recv_counts,
          offsets,
          messages};
}

double median(std::vector<double> values) { return statistics_of(std::move(values)).p50; }

}  // namespace

Player::Player(const Session& session, const Recording& recording, const ReplaySettings& settings)
    : session_(session), recording_(recording), settings_(settings), team_(session.all()) {
  if (is_on_device(settings.memory)) stream_.emplace();
  const double first = recording.steps.empty() ? 0 : recording.steps.front().begin;
  late_ = first + team_.largest(-first);
  number_calls();
  number_shapes();
  make_persistent();
  running_.resize(recording.calls.size());
}

/// The n-th collective of a communicator has the same number on all its ranks, and the n-th message from one rank to
/// another with a tag on both.
void Player::number_calls() {
  std::map<std::size_t, std::uint64_t> collectives;
  std::map<std::tuple<std::size_t, bool, int, int>, std::uint64_t> messages;
  for (const RecordedCall& call : recording_.calls) {
    auto& numbers = numbers_.emplace_back();
    if (call.exchange.operation) numbers.push_back(++collectives[call.group]);
    for (const Message& one : call.exchange.messages)
      numbers.push_back((++messages[{call.group, one.is_recv, one.peer, one.tag}] << 15U) +
                        static_cast<std::uint64_t>(one.tag));
  }
}

void Player::number_shapes() {
  std::map<ShapeKey, std::size_t> known;
  for (std::size_t i = 0; i < recording_.calls.size(); ++i)
    shapes_.push_back(known.try_emplace(key_of(recording_.calls[i], session_.offsets(i)), known.size()).first->second);
}

void Player::make_persistent() {
  const CallOptions options{settings_.memory, settings_.algorithm, stream_ ? stream_->stream() : Stream{}};
  for (std::size_t i = 0; i < recording_.made.size(); ++i) {
    const RecordedCall& made = recording_.made[i];
    persistent_.push_back(make_replayed(session_.communicator(made.group), made, session_.made_offsets(i), options));
  }
}

void Player::free_oldest() {
  std::vector<Idle>* oldest = nullptr;
  for (auto& [shape, calls] : idle_)
    if (!calls.empty() && (oldest == nullptr || calls.front().used < oldest->front().used)) oldest = &calls;
  if (oldest == nullptr) return;
  buffer_bytes_ -= oldest->front().call->bytes();
  oldest->erase(oldest->begin());
}

std::unique_ptr<ReplayedCall> Player::take(std::size_t call) {
  auto& idle = idle_[shapes_[call]];
  if (!idle.empty()) {
    auto found = std::move(idle.back().call);
    idle.pop_back();
    return found;
  }
  const CallOptions options{settings_.memory, settings_.algorithm, stream_ ? stream_->stream() : Stream{}};
  const RecordedCall& recorded = recording_.calls[call];
  auto made = make_replayed(session_.communicator(recorded.group), recorded, session_.offsets(call), options);
  buffer_bytes_ += made->bytes();
  return made;
}

void Player::give_back(std::size_t call, std::unique_ptr<ReplayedCall>&& used) {
  idle_[shapes_[call]].push_back({std::move(used), ++clock_});
  std::size_t before = 0;
  while (buffer_bytes_ > settings_.buffer_bytes && buffer_bytes_ != before) {
    before = buffer_bytes_;
    free_oldest();
  }
}

std::vector<std::uint64_t> Player::iterations(std::size_t call) const {
  std::vector<std::uint64_t> all = numbers_[call];
  for (std::uint64_t& one : all) one += pass_ << 48U;
  return all;
}

void Player::pause(double until) const {
  if (settings_.gaps == Gaps::drop) return;
  constexpr double short_time = 1e-3;  // a sleep may last longer
  const double left = until - now();
  if (settings_.gaps == Gaps::sleep && left > short_time)
    std::this_thread::sleep_for(std::chrono::duration<double>(left - short_time));
  while (now() < until)
    if (settings_.gaps == Gaps::sleep)
      std::this_thread::yield();
    else
      (void)compute_for(std::min(1e-6, until - now()));
}

void Player::settle() const {
  if (stream_) stream_->wait();
}

void Player::verify(std::size_t call, const ReplayedCall& made) {
  ++played_.checked;
  const auto fault = made.find_fault(iterations(call));
  if (!fault) return;
  ++played_.wrong;
  if (played_.fault.empty())
    played_.fault = fmt::format("call {}, {}: {}", call + 1, words_of(recording_.calls[call].exchange), *fault);
}

std::pair<double, double> Player::make_step(const Step& step, bool is_checked) {
  const RecordedCall& recorded = recording_.calls[step.call];
  const bool is_persistent = recorded.mode == Mode::persistent;
  auto& running = is_persistent ? persistent_[recorded.made] : running_[step.call];
  if (step.kind != Step::Kind::wait) {
    if (!is_persistent) running = take(step.call);
    if (is_checked) running->fill(iterations(step.call));
  }
  const double begin = now();
  if (step.kind == Step::Kind::run)
    running->call().run();
  else if (step.kind == Step::Kind::start)
    running->call().start();
  else
    running->call().wait();
  if (step.kind != Step::Kind::start) settle();
  const double end = now();
  if (step.kind == Step::Kind::start) return {begin, end};
  if (is_checked) verify(step.call, *running);
  if (!is_persistent) give_back(step.call, std::move(running));
  return {begin, end};
}

/// Returns the seconds that each step held the program, and behind these the length of all.
std::vector<double> Player::pass(bool is_checked) {
  ++pass_;
  std::vector<double> held;
  team_.meet();
  double free = now();            // when the last step whose length is known ended
  double first = free;            // when the first step began
  double recorded_free = -late_;  // as free, in the trace
  if (!recording_.steps.empty()) recorded_free += recording_.steps.front().begin;
  for (const Step& step : recording_.steps) {
    if (recording_.has_times) pause(free + (step.begin - recorded_free));
    const auto [begin, end] = make_step(step, is_checked);
    if (held.empty()) first = begin;
    held.push_back(end - begin);
    free = step.length ? end : begin;
    recorded_free = step.begin + step.length.value_or(0);
  }
  held.push_back(now() - first);
  return held;
}

Played Player::play() {
  if (settings_.check != Check::off) (void)pass(true);
  std::vector<std::vector<double>> all;
  for (int i = 0; i < settings_.repeats; ++i) all.push_back(pass(settings_.check == Check::all));
  for (std::size_t i = 0; i <= recording_.steps.size(); ++i) {
    std::vector<double> values;
    for (const auto& one : all) values.push_back(one[i]);
    played_.held.push_back(median(std::move(values)));
  }
  played_.length = played_.held.back();
  played_.held.pop_back();
  return std::move(played_);
}

}  // namespace tutti::commbench::replay
