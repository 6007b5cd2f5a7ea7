// SPDX-License-Identifier: BSD-3-Clause
#include "call/check.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "call/backoff.hpp"
#include "call/context.hpp"
#include "call/deferred_free.hpp"
#include "call/progress.hpp"
#include "check/comparison.hpp"
#include "core/progress_hook.hpp"
#include "schedules/registry.hpp"

namespace tutti::detail {

Check::Check(Context& context, bool all_bytes)
    : context_(context),
      all_bytes_(all_bytes),
      made_at_((want_sites(), record_of(take_site()))),
      exchange_(make_call_exchange(context, channel_)),
      messages_(channel_, context.rank) {
  if (context.size == 1) return;
  comm_.begin(context.point_to_point);
  comm_.wait();
  channel_.open(comm_.get());
}

Check::~Check() = default;

std::uint64_t Check::note(const Signature& signature, const Binding& binding, bool has_stream) {
  const std::lock_guard lock(mutex_);
  return note_locked(signature, binding, has_stream);
}

void Check::meet(const Signature& signature, const Binding& binding, bool has_stream,
                 std::chrono::nanoseconds timeout) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = note_locked(signature, binding, has_stream);
    if (exchange_ == nullptr) return;
    // Ranks often come at about the same time.
    constexpr int first_polls = 400;
    const int polls = context_.topology.oversubscribed ? 1 : first_polls;
    for (int i = 0; i < polls; ++i) {
      go_on();
      if (number < settled_) return;
    }
  }
  settle(number, timeout);
}

std::uint64_t Check::note_locked(const Signature& signature, const Binding& binding, bool has_stream) {
  if (!signature.algorithm.empty()) {
    const std::size_t length = std::min(signature.algorithm.size(), mine_.algorithm.size() - 1);
    std::copy_n(signature.algorithm.data(), length, mine_.algorithm.data());
    mine_.algorithm[length] = '\0';
  }
  CallFacts facts = facts_of(signature, binding, has_stream);
  // With a timeout of the communicator all calls have one.
  facts.has_timeout = facts.has_timeout && context_.options.timeout.count() == 0;
  return add(facts, &signature, &binding);
}

std::uint64_t Check::note(flight::Call call, CallKind kind) {
  const std::lock_guard lock(mutex_);
  return add(facts_of(call, kind), nullptr, nullptr);
}

void Check::refuse(flight::Call call) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    CallFacts facts;
    facts.call = call;
    facts.is_refused = true;
    (void)add(facts, nullptr, nullptr);
  } catch (...) {  // NOLINT(bugprone-empty-catch): the error of the call itself is about to be thrown
  }
}

std::uint64_t Check::add(const CallFacts& facts, const Signature* signature, const Binding* binding) {
  mine_.facts = facts;
  mine_.site = record_of(take_site());
  const std::uint64_t number = made_++;
  if (exchange_ == nullptr) {
    settled_ = made_;
    return number;
  }
  Pending& call = pending_.emplace_back();
  call.number = number;
  call.record = mine_;
  for (int r = 0; r < context_.size; ++r)
    if (r != context_.rank) call.left.push_back(r);
  if (signature != nullptr && has_block_sizes(facts) && context_.size <= most_compared_ranks) {
    const auto ranks = static_cast<std::size_t>(context_.size);
    call.sizes.resize(2 * ranks);
    const std::span sizes(call.sizes);
    write_block_sizes(*signature, *binding, sizes.first(ranks), sizes.last(ranks));
  }
  const bool is_next = pending_.size() == 1 || pending_[pending_.size() - 2].is_published;
  call.is_published = is_next && exchange_->publish(number, call.record, sizes_of(call));
  return number;
}

BlockSizes Check::sizes_of(const Pending& call) const {
  const std::span<const std::uint64_t> sizes(call.sizes);
  return {sizes.first(sizes.size() / 2), sizes.last(sizes.size() / 2)};
}

void Check::go_on() {
  if (verdict_) throw Error(*verdict_);
  for (Pending& call : pending_) {
    if (!call.is_published) call.is_published = exchange_->publish(call.number, call.record, sizes_of(call));
    if (!call.is_published) break;
  }
  while (!pending_.empty() && compare_with_all(pending_.front())) {
    settled_ = pending_.front().number + 1;
    exchange_->forget(pending_.front().number);
    pending_.pop_front();
  }
}

bool Check::compare_with_all(Pending& call) {
  if (!call.is_published) return false;
  const auto find = [&](int rank) { return exchange_->find(call.number, rank); };
  const auto compare = [&](int rank, const CallRecord& theirs) { compare_with(call, rank, theirs); };
  if (!check::compare_with_come(call.left, find, compare)) return false;
  if (!call.sizes.empty()) compare_sizes(call);
  return true;
}

void Check::compare_with(const Pending& call, int rank, const CallRecord& theirs) {
  if (theirs.facts == call.record.facts) [[likely]]
    return;
  std::string difference =
      check::both(context_.rank, rank_words(context_.rank, call.record), rank, rank_words(rank, theirs));
  if (call_words(call.record) == call_words(theirs) && !theirs.facts.is_refused && !call.record.facts.is_refused)
    difference += ", with other counts of the blocks";
  throw_mismatch(call, difference);
}

void Check::compare_sizes(const Pending& call) {
  const auto sizes = [&](int rank) {
    return rank == context_.rank ? sizes_of(call) : exchange_->sizes_of(call.number, rank);
  };
  for (int a = 0; a < context_.size; ++a)
    for (int b = a; b < context_.size; ++b) {
      const std::string difference = size_difference(call.record.facts, a, sizes(a), b, sizes(b));
      if (difference.empty()) continue;
      const auto record = [&](int rank) -> const CallRecord& {
        return rank == context_.rank ? call.record : *exchange_->find(call.number, rank);
      };
      throw_mismatch(call, fmt::format("{} ({}, {})", difference, rank_words(a, record(a)), rank_words(b, record(b))));
    }
}

void Check::throw_mismatch(const Pending& call, const std::string& difference) {
  const std::string name = call_words(call.record);
  verdict_.emplace(ErrorCode::mismatch,
                   fmt::format("{}, {}: call {} differs between ranks: {}; make the same call on all ranks",
                               name.substr(0, name.find('(')), context_.describe(), call.number + 1, difference));
  context_.mark_broken(ErrorCode::mismatch, verdict_->what());
  throw Error(*verdict_);
}

bool Check::compare(std::uint64_t number) {
  if (exchange_ == nullptr) return true;
  const std::lock_guard lock(mutex_);
  if (number < settled_) return true;
  go_on();
  if (number >= settled_) throw_failure_of_others();
  return number < settled_;
}

void Check::settle(std::uint64_t number, std::chrono::nanoseconds timeout) {
  if (compare(number)) return;
  ProgressEngine& engine = ProgressEngine::instance();
  Backoff backoff(context_.topology.oversubscribed);
  const auto begin = std::chrono::steady_clock::now();
  constexpr std::uint64_t polls_per_look = 64;
  for (;;) {
    const bool may_spin = backoff.pause();
    if (compare(number)) return;
    engine.poll();
    if (!may_spin || backoff.polls() % polls_per_look == 0) {
      context_.check_aborted();
      // Legal programs need the host MPI to progress meanwhile.
      progress_hook::look_into_mpi(context_.point_to_point);
      if (timeout.count() > 0 && std::chrono::steady_clock::now() - begin > timeout) throw_missing(number, timeout);
    }
    if (!may_spin) Backoff::sleep();
  }
}

void Check::throw_missing(std::uint64_t number, std::chrono::nanoseconds timeout) {
  const std::lock_guard lock(mutex_);
  const Pending& call = pending_.front();  // of this number, or one before it that keeps it waiting
  std::string missing;
  for (int r = 0; r < context_.size; ++r) {
    if (r == context_.rank || exchange_->find(call.number, r) != nullptr) continue;
    const CallRecord* last = exchange_->last_before(call.number, r);
    missing += fmt::format("{}rank {} has not made it{}", missing.empty() ? "" : ", ", r,
                           last == nullptr ? "" : fmt::format(" (its last: {})", placed_words(*last)));
  }
  if (missing.empty()) missing = "this rank is too far ahead of the others";
  const std::string name = call_words(mine_);
  const Error error(ErrorCode::timeout,
                    fmt::format("{}, {}: not all ranks have made call {} after {} ms: {}, {}. Raise the timeout, or "
                                "check the rank that is missing",
                                name.substr(0, name.find('(')), context_.describe(), number + 1,
                                std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count(),
                                rank_words(context_.rank, call.record), missing));
  verdict_.emplace(error);
  context_.mark_broken(error.code(), error.what());
  throw Error(error);
}

void Check::throw_failure_of_others() {
  if (!exchange_->has_failure()) return;
  const RankFailure failure = exchange_->failure();
  if (failure.rank < 0 || failure.rank == context_.rank) return;
  const auto code = static_cast<ErrorCode>(failure.code);
  verdict_.emplace(code, code == ErrorCode::mismatch ? failure.reason
                                                     : fmt::format("{}: rank {} has failed: {}", context_.describe(),
                                                                   failure.rank, failure.reason));
  context_.mark_broken(code, verdict_->what());
  throw Error(*verdict_);
}

void Check::fail(ErrorCode code, const std::string& reason) noexcept {
  if (exchange_ != nullptr) exchange_->fail(static_cast<int>(code), reason);
}

void Check::close(bool is_good) noexcept {
  if (exchange_ == nullptr) return;
  try {
    const auto begin = std::chrono::steady_clock::now();
    // Other ranks have made all earlier calls before they come here, unless they differ.
    const auto is_over = [this] { return (settled_ == made_ || compare(made_ - 1)) && channel_.are_sent(); };
    while (is_good && !is_over() && std::chrono::steady_clock::now() - begin < std::chrono::seconds(1))
      Backoff::sleep();
    // Ranks that still wait for another call of this one learn that it will make none.
    if (is_good && exchange_->tells_end()) (void)note(flight::Call::free_communicator, CallKind::blocking);
  } catch (...) {  // NOLINT(bugprone-empty-catch): the ranks differ, and nobody asks any more
  }
  close_channel();
}

// Where calls are left, or records, the communicator is kept for ever, because records must not reach another one.
void Check::close_channel() noexcept {
  const std::lock_guard lock(mutex_);
  if (!mpi_is_usable()) return;
  try {
    if (auto memory = channel_.close())
      defer_free(std::move(memory));
    else if (pending_.empty() || exchange_->tells_end())
      comm_.free();
  } catch (...) {  // NOLINT(bugprone-empty-catch): the communicator is kept then
  }
}

}  // namespace tutti::detail
