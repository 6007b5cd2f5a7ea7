// SPDX-License-Identifier: BSD-3-Clause
#include "training/reducer/launch_queue.hpp"

#include <chrono>
#include <tutti/collectives/allreduce.hpp>
#include <utility>

namespace tutti::detail::reducer {
namespace {

/// A communicator takes 12 nonblocking calls at once; four of them are left to the words that go beside the buckets.
constexpr std::size_t most_under_way = 8;

template <typename T>
Request start_words(const Communicator& comm, T* data, std::size_t count, ReduceOp op) {
  return iallreduce(comm, data, count, op, {.memory = MemoryKind::host});
}

}  // namespace

void LaunchQueue::begin(bool active) {
  allow(0);
  next_ = oldest_ = turn_ = under_way_ = 0;
  is_done_.assign(setup_.buckets, false);
  phase_ = Phase::launching;
  active_ = active ? 1 : 0;
  if (setup_.counts_active) active_request_ = start_words(setup_.comms[0], &active_, 1, sum);
}

void LaunchQueue::close(std::int64_t status, std::vector<std::uint64_t> used) {
  status_ = status;
  used_ = std::move(used);
  phase_ = Phase::closed;
  allow(setup_.buckets);
}

bool LaunchQueue::advance() {
  // Hooks do not say whether they worked or only polled, so the time that they took tells.
  constexpr std::chrono::microseconds shortest_work{4};
  if (!is_open()) return false;
  const auto begin = std::chrono::steady_clock::now();
  const bool launched = launch_next();
  if (phase_ == Phase::closed && next_ == setup_.buckets) launch_last_words();
  poll();
  end_when_done();
  return launched || !is_open() || std::chrono::steady_clock::now() - begin > shortest_work;
}

bool LaunchQueue::is_full() const { return under_way_ >= most_under_way * setup_.comms.size(); }

bool LaunchQueue::may_launch() const { return next_ < allowed_.load(std::memory_order_acquire) && !is_full(); }

bool LaunchQueue::launch_next() {
  if (!may_launch()) return false;
  setup_.transfer->before_launch(next_);
  setup_.hook->start(next_);
  ++next_;
  ++under_way_;
  return true;
}

void LaunchQueue::launch_last_words() {
  phase_ = Phase::ending;
  const Communicator& comm = setup_.comms[0];
  if (setup_.finds_unused) used_request_ = start_words(comm, used_.data(), used_.size(), bor);
  status_request_ = start_words(comm, &status_, 1, max);
}

bool LaunchQueue::may_poll() const {
  if (!knows_active() || under_way_ == 0) return false;  // a result may be divided by the number of active ranks
  return !setup_.polls_after_backward || phase_ != Phase::launching || is_full();
}

/// Tests two buckets: the oldest, which the next launches wait for, and a younger one, each in turn.
void LaunchQueue::poll() {
  if (!knows_active()) (void)active_request_.test();
  if (!may_poll()) return;
  poll_bucket(oldest_);
  while (oldest_ < next_ && is_done_[oldest_]) ++oldest_;
  ++turn_;
  if (turn_ <= oldest_ || turn_ >= next_) turn_ = oldest_ + 1;
  if (turn_ < next_ && !is_done_[turn_]) poll_bucket(turn_);
}

void LaunchQueue::poll_bucket(std::size_t bucket) {
  if (!setup_.hook->test(bucket)) return;
  is_done_[bucket] = true;
  --under_way_;
  setup_.transfer->after_reduction(bucket, active_);
}

void LaunchQueue::end_when_done() {
  if (phase_ != Phase::ending || under_way_ > 0 || !knows_active()) return;
  if (used_request_.test() && status_request_.test()) phase_ = Phase::idle;
}

}  // namespace tutti::detail::reducer
