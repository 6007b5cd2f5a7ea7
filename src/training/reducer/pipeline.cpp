// SPDX-License-Identifier: BSD-3-Clause
#include "training/reducer/pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <tutti/collectives/allreduce.hpp>
#include <utility>

namespace tutti::detail::reducer {
namespace {

/// Of a communicator's nonblocking calls 16 are under way at most: of the buckets so many less what goes beside them.
constexpr std::size_t most_under_way = 12;

template <typename T>
Request start_small(const Communicator& comm, T* data, std::size_t count, ReduceOp op) {
  Options options;
  options.memory = MemoryKind::host;
  return iallreduce(comm, data, count, op, options);
}

}  // namespace

void Pipeline::prepare(Setup setup) { setup_ = std::move(setup); }

void Pipeline::begin(bool active) {
  allow(0);
  next_ = oldest_ = turn_ = under_way_ = 0;
  is_done_.assign(setup_.buckets.size(), false);
  is_closed_ = launched_last_ = false;
  is_open_ = true;
  active_ = active ? 1 : 0;
  if (setup_.counts_active) active_request_ = start_small(setup_.comms[0], &active_, 1, sum);
}

void Pipeline::close(std::int64_t status, std::vector<std::uint64_t> used) {
  status_ = status;
  used_ = std::move(used);
  is_closed_ = true;
  allow(setup_.buckets.size());
}

bool Pipeline::may_launch() const {
  return next_ < allowed_.load(std::memory_order_acquire) && under_way_ < most_under_way * setup_.comms.size();
}

bool Pipeline::launch_next() {
  if (!may_launch()) return false;
  setup_.full(next_);
  setup_.hook->start(next_);
  ++next_;
  ++under_way_;
  return true;
}

bool Pipeline::advance() {
  // Work is told from looking by the time that it takes: hooks do not say.
  constexpr std::chrono::microseconds shortest_work{4};
  if (!is_open_) return false;
  const auto begin = std::chrono::steady_clock::now();
  const bool launched = launch_next();
  if (is_closed_ && !launched_last_ && next_ == setup_.buckets.size()) launch_last();
  look();
  end_when_done();
  return launched || !is_open_ || std::chrono::steady_clock::now() - begin > shortest_work;
}

void Pipeline::look() {
  // A result may be divided by the number of ranks that have a step.
  if (!knows_active() && !active_request_.test()) return;
  if (under_way_ == 0) return;
  const bool is_backward = !is_closed_ && under_way_ < most_under_way * setup_.comms.size();
  if (setup_.looks_late && is_backward) return;
  look_at(oldest_);
  while (oldest_ < next_ && is_done_[oldest_]) ++oldest_;
  if (under_way_ == 0) return;
  if (++turn_ >= next_) turn_ = oldest_ + 1;
  if (turn_ > oldest_ && turn_ < next_ && !is_done_[turn_]) look_at(turn_);
}

bool Pipeline::look_at(std::size_t bucket) {
  if (!setup_.hook->test(bucket)) return false;
  is_done_[bucket] = true;
  --under_way_;
  setup_.finished(bucket);
  return true;
}

void Pipeline::launch_last() {
  launched_last_ = true;
  const Communicator& comm = setup_.comms[0];
  if (setup_.finds_unused) used_request_ = start_small(comm, used_.data(), used_.size(), bor);
  status_request_ = start_small(comm, &status_, 1, max);
}

void Pipeline::end_when_done() {
  if (!launched_last_ || under_way_ > 0 || !knows_active()) return;
  if (used_request_.test() && status_request_.test()) is_open_ = false;
}

}  // namespace tutti::detail::reducer
