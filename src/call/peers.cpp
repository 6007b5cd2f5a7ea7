// SPDX-License-Identifier: BSD-3-Clause
#include "call/peers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::detail {
namespace {

std::atomic<bool> any{false};

}  // namespace

void Peers::watch(std::span<const ProcessIdentity> all, int rank, bool is_told) {
  rank_ = rank;
  const ProcessIdentity& own = all[static_cast<std::size_t>(rank)];
  watches_.resize(all.size());
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (all[r].number == own.number) continue;
    if (own.sees(all[r]))
      watches_[r] = ProcessWatch::of(all[r]);
    else if (is_told)
      watches_[r] = ProcessWatch::of(all[r], ProcessWatch::Method::told);
  }
}

void Peers::watch(const Peers& whole, std::span<const int> ranks) {
  watches_.resize(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    watches_[r] = whole.watches_[static_cast<std::size_t>(ranks[r])];
    if (ranks[r] == whole.rank_) rank_ = static_cast<int>(r);
  }
}

bool Peers::is_time_to_look(Clock::time_point now) noexcept {
  const Clock::rep ticks = now.time_since_epoch().count();
  Clock::rep next = next_look_.load(std::memory_order_relaxed);
  return ticks >= next && next_look_.compare_exchange_strong(next, ticks + Clock::duration(between_looks).count());
}

int Peers::look() noexcept {
  for (std::size_t r = 0; r < watches_.size() && ended() < 0; ++r) {
    if (watches_[r] == nullptr || !watches_[r]->has_ended()) continue;
    int none = -1;
    ended_.compare_exchange_strong(none, static_cast<int>(r));
    any.store(true);
  }
  return ended();
}

bool Peers::watches(int rank) const noexcept {
  return rank == rank_ || watches_[static_cast<std::size_t>(rank)] != nullptr;
}

bool Peers::watches_all() const noexcept {
  return std::count(watches_.begin(), watches_.end(), nullptr) <= 1;  // the rank itself
}

bool Peers::sees_all() const noexcept {
  return watches_all() && std::none_of(watches_.begin(), watches_.end(),
                                       [](const auto& one) { return one != nullptr && one->is_told(); });
}

bool Peers::has_ended(int rank) const noexcept {
  const auto& watch = watches_[static_cast<std::size_t>(rank)];
  return watch != nullptr && watch->has_ended();
}

std::string Peers::name(int rank) const {
  return fmt::format("rank {} (process {})", rank, watches_[static_cast<std::size_t>(rank)]->process());
}

bool Peers::any_has_ended() noexcept { return any.load(); }

}  // namespace tutti::detail
