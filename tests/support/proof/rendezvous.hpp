// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "support/proof/matching.hpp"

namespace tutti::schedules {

/// Which of the ranks that can go on does so first.
struct Order {
  enum class Kind : std::uint8_t { newest_first, oldest_first, shuffled };
  Kind kind = Kind::newest_first;
  std::uint32_t seed = 1;
};

/// Runs all ranks' rounds. A message passes when both of its ends are posted, an exchange when all ranks of its node
/// have come to it, a round ends when all of its messages and its exchange have passed. That is the least progress that
/// MPI promises: whatever MPI does sooner, with buffers or threads, it does not end where this does not.
class Rendezvous {
 public:
  /// The references must outlive it.
  Rendezvous(const std::vector<Schedule>& schedules, const Matching& matching)
      : schedules_(schedules), matching_(matching), ranks_(schedules.size()), met_(matching.meetings()) {}

  /// on_post(rank, round), on_message(send, recv) or on_exchange(meeting), and on_end(rank, round) are called in this
  /// order. Throws Fault where some ranks wait for one another.
  template <typename OnPost, typename OnMessage, typename OnExchange, typename OnEnd>
  void run(const Order& order, OnPost&& on_post, OnMessage&& on_message, OnExchange&& on_exchange, OnEnd&& on_end) {
    std::mt19937 random(order.seed);
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) post(rank, on_post, on_message, on_exchange);
    while (first_ < ready_.size()) {
      const int rank = take(order, random);
      on_end(rank, ranks_[rank].posted - 1);
      post(rank, on_post, on_message, on_exchange);
    }
    check_end();
  }

 private:
  struct Rank {
    std::size_t posted = 0;   ///< rounds
    std::size_t pending = 0;  ///< transfers of the last posted round, and its exchange
  };

  template <typename OnPost, typename OnMessage, typename OnExchange>
  void post(int rank, OnPost& on_post, OnMessage& on_message, OnExchange& on_exchange) {
    Rank& r = ranks_[rank];
    const auto& rounds = schedules_[rank].rounds;
    if (r.posted == rounds.size()) return;
    const std::size_t k = r.posted++;
    const auto& transfers = rounds[k].transfers;
    r.pending = transfers.size() + (rounds[k].exchange ? 1 : 0);
    on_post(rank, k);
    if (rounds[k].exchange) meet(matching_.meeting_of(rank, k), on_exchange, rank);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      const End& other = matching_.other_end(rank, k, i);
      if (ranks_[other.rank].posted <= other.round) continue;
      const End mine{rank, static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(i)};
      sends(transfers[i]) ? on_message(mine, other) : on_message(other, mine);
      --r.pending;
      if (--ranks_[other.rank].pending == 0) ready_.push_back(other.rank);
    }
    if (r.pending == 0) ready_.push_back(rank);
  }

  /// Of all ranks that meet, the last one to come ends the exchange of all.
  template <typename OnExchange>
  void meet(std::size_t number, OnExchange& on_exchange, int last) {
    const Matching::Meeting& meeting = matching_.meeting(number);
    if (++met_[number] < meeting.size()) return;
    on_exchange(meeting);
    for (const End& end : meeting)
      if (--ranks_[end.rank].pending == 0 && end.rank != last) ready_.push_back(end.rank);
  }

  int take(const Order& order, std::mt19937& random) {
    if (order.kind == Order::Kind::oldest_first) return ready_[first_++];
    if (order.kind == Order::Kind::shuffled) std::swap(ready_[random() % ready_.size()], ready_.back());
    const int rank = ready_.back();
    ready_.pop_back();
    return rank;
  }

  void check_end() const;

  const std::vector<Schedule>& schedules_;
  const Matching& matching_;
  std::vector<Rank> ranks_;
  std::vector<std::size_t> met_;  ///< by meeting: ranks that have come to it
  std::vector<int> ready_;
  std::size_t first_ = 0;
};

}  // namespace tutti::schedules
