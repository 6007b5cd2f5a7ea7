// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::simulation {
namespace {

Scheduler* active = nullptr;

/// The time of one decision.
constexpr Scheduler::Time step_time{100};
/// Decisions without an event after which ranks are taken to wait for nothing, or for the dead rank.
constexpr std::uint64_t patience = 60'000;
constexpr std::uint64_t mourning = 15'000;

}  // namespace

Scheduler::Scheduler(std::uint64_t seed, int ranks, const Manner& manner) : manner_(manner), random_(mix({seed, 11})) {
  for (int rank = 0; rank < ranks; ++rank) {
    ranks_.push_back(std::make_unique<Rank>());
    ranks_.back()->priority = random_.below(1000);
  }
  dies_at_ = random_.below(std::size_t{3000});
  active = this;
}

Scheduler::~Scheduler() { active = nullptr; }

Scheduler* Scheduler::here() { return Fiber::is_inside() ? active : nullptr; }

void Scheduler::start(int rank, std::function<void()> body) {
  ranks_[static_cast<std::size_t>(rank)]->fiber = std::make_unique<Fiber>(std::move(body));
}

std::string Scheduler::run() {
  while (failure_.empty() && !all_ended()) decide();
  return failure_;
}

void Scheduler::decide() {
  ++decisions_;
  now_ += step_time;
  end_naps();
  die_or_pause();
  environment_->disturb(random_);
  if (random_.once_in(manner_.delivers) && environment_->deliver(random_)) return;
  collect_ready();
  if (ready_.empty()) {
    if (!unblock()) failure_ = "no rank can go on:" + where();
    return;
  }
  resume(pick());
  check_events();
}

void Scheduler::collect_ready() {
  ready_.clear();
  for (int i = 0; i < static_cast<int>(ranks_.size()); ++i) {
    const Rank& rank = *ranks_[static_cast<std::size_t>(i)];
    if (rank.rest == Rest::none && i != dead_ && rank.paused_until <= decisions_ && !rank.fiber->has_ended())
      ready_.push_back(i);
  }
}

bool Scheduler::can_end(const Rank& rank) const {
  return rank.rest == Rest::nap || (rank.rest == Rest::sleep && (sleeps_end_ || has_died_));
}

void Scheduler::end_naps() {
  for (auto& rank : ranks_)
    if (can_end(*rank) && rank->until <= now_) {
      rank->timed_out = true;
      rank->rest = Rest::none;
    }
}

bool Scheduler::unblock() {
  if (environment_->deliver(random_)) return true;
  bool was_paused = false;
  for (auto& rank : ranks_) {
    was_paused = was_paused || (rank->paused_until > decisions_ && rank->rest == Rest::none);
    rank->paused_until = 0;
  }
  return (was_paused && (collect_ready(), !ready_.empty())) || leap() || release_met() || revive();
}

/// Lets the time pass until a rank has slept enough.
bool Scheduler::leap() {
  bool found = false;
  Time next{};
  for (int i = 0; i < static_cast<int>(ranks_.size()); ++i) {
    const Rank& rank = *ranks_[static_cast<std::size_t>(i)];
    if (i == dead_ || !can_end(rank) || (found && rank.until >= next)) continue;
    next = rank.until;
    found = true;
  }
  if (found) now_ = std::max(now_, next);
  return found;
}

bool Scheduler::release_met() {
  for (int i = 0; i < static_cast<int>(ranks_.size()); ++i)
    if (ranks_[static_cast<std::size_t>(i)]->rest != Rest::met) return false;
  for (auto& rank : ranks_) rank->rest = Rest::none;
  return true;
}

bool Scheduler::revive() {
  if (dead_ < 0) return false;
  dead_ = -1;
  tell();
  return true;
}

void Scheduler::check_events() {
  if (decisions_ - last_event_ < (dead_ < 0 ? patience : mourning) || revive()) return;
  failure_ = "the ranks wait for one another:" + where();
}

int Scheduler::pick() {
  if (const int chosen = environment_->choose(ready_); chosen >= 0) return chosen;
  const auto is_last = std::find(ready_.begin(), ready_.end(), last_);
  if (manner_.policy == Policy::bursts && is_last != ready_.end() && !waited_ && !random_.once_in(16)) return last_;
  if (manner_.policy != Policy::priorities) return ready_[random_.below(ready_.size())];
  if (waited_ && last_ >= 0) ranks_[static_cast<std::size_t>(last_)]->priority = --lowest_;
  if (random_.once_in(100)) ranks_[random_.below(ranks_.size())]->priority = random_.below(1000);
  return *std::max_element(ready_.begin(), ready_.end(), [this](int a, int b) {
    return ranks_[static_cast<std::size_t>(a)]->priority < ranks_[static_cast<std::size_t>(b)]->priority;
  });
}

void Scheduler::resume(int rank) {
  digest_ = mix(digest_ ^ static_cast<std::uint64_t>(rank));
  last_ = running_ = rank;
  waited_ = false;
  Rank& chosen = *ranks_[static_cast<std::size_t>(rank)];
  detail::ProgressEngine* own = detail::ProgressEngine::replace(&chosen.engine);
  chosen.fiber->resume();
  detail::ProgressEngine::replace(own);
  running_ = -1;
  if (chosen.fiber->has_ended()) tell();
}

void Scheduler::die_or_pause() {
  if (manner_.dies && may_die_ && !has_died_ && decisions_ >= dies_at_) {
    has_died_ = true;
    dead_ = random_.below(static_cast<int>(ranks_.size()));
  }
  if (manner_.pauses == 0 || !random_.once_in(manner_.pauses)) return;
  ranks_[random_.below(ranks_.size())]->paused_until = decisions_ + random_.below(std::size_t{600});
}

bool Scheduler::all_ended() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const auto& rank) { return rank->fiber->has_ended(); });
}

std::string Scheduler::where() const {
  std::string text;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const Rank& rank = *ranks_[i];
    const char* state = rank.fiber->has_ended()        ? "has ended"
                        : rank.rest == Rest::sleep     ? "sleeps"
                        : rank.rest == Rest::nap       ? "naps"
                        : rank.rest == Rest::met       ? "is through"
                        : static_cast<int>(i) == dead_ ? "is dead"
                                                       : "runs";
    text += fmt::format("\n  rank {} {}; {}", i, state, rank.step);
  }
  return text;
}

void Scheduler::stop(int turns) {
  if (!random_.once_in(turns)) return;
  Fiber::yield();
}

void Scheduler::wait() {
  waited_ = true;
  Fiber::yield();
}

void Scheduler::nap(Time length) {
  Rank& rank = *ranks_[static_cast<std::size_t>(running_)];
  rank.rest = Rest::nap;
  rank.until = now_ + length;
  wait();
}

bool Scheduler::sleep(const Word& word, Time longest) {
  Rank& rank = *ranks_[static_cast<std::size_t>(running_)];
  rank.rest = Rest::sleep;
  rank.word = word;
  rank.until = now_ + longest;
  rank.timed_out = false;
  wait();
  return !rank.timed_out;
}

void Scheduler::wake(const Word& word) {
  for (auto& rank : ranks_) {
    if (rank->rest != Rest::sleep || rank->word != word) continue;
    if (environment_->loses_wake()) return;
    rank->rest = Rest::none;
    tell();
  }
}

void Scheduler::meet() {
  ranks_[static_cast<std::size_t>(running_)]->rest = Rest::met;
  tell();
  Fiber::yield();
}

void Scheduler::fail(const std::string& reason) {
  if (failure_.empty()) failure_ = reason;
  // The other ranks may be amidst anything, so that nothing can be undone.
  ranks_[static_cast<std::size_t>(running_)]->rest = Rest::met;
  Fiber::yield();
}

void Scheduler::note(std::string step) {
  tell();
  digest_ = mix(digest_ ^ decisions_);
  if (prints_) fmt::print("[{:6}] rank {}: {}\n", decisions_, running_, step);
  ranks_[static_cast<std::size_t>(running_)]->step = std::move(step);
}

}  // namespace tutti::simulation
