// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedules/schedule.hpp"

namespace tutti::schedules {

/// Where a transfer stands in the schedules of all ranks.
struct End {
  std::int32_t rank = 0;
  std::uint32_t round = 0;
  std::uint32_t index = 0;
};

[[nodiscard]] inline bool sends(const Transfer& transfer) { return transfer.kind == Transfer::Kind::send; }

/// The other end of each transfer: messages between one pair of ranks match in the order in which they stand. So do
/// the exchanges of the ranks of a node.
class Matching {
 public:
  /// Throws Fault where a transfer has no valid peer, no counterpart, or one of another size, and where the ranks of a
  /// node have different exchanges. node_of: the node of each rank; empty: all are on one.
  explicit Matching(const std::vector<Schedule>& schedules, std::span<const int> node_of = {});

  [[nodiscard]] const End& other_end(int rank, std::size_t round, std::size_t index) const {
    const auto& of_rank = ranks_[static_cast<std::size_t>(rank)];
    return of_rank.ends[of_rank.first[round] + index];
  }

  /// The rounds of a node's ranks, in rank order, whose exchange is one.
  using Meeting = std::vector<End>;
  [[nodiscard]] std::size_t meetings() const { return meetings_.size(); }
  [[nodiscard]] const Meeting& meeting(std::size_t number) const { return meetings_[number]; }
  /// The number of the meeting of a round that has an exchange.
  [[nodiscard]] std::size_t meeting_of(int rank, std::size_t round) const {
    return ranks_[static_cast<std::size_t>(rank)].meetings[round];
  }

 private:
  void match_messages(const std::vector<Schedule>& schedules);
  void match_exchanges(const std::vector<Schedule>& schedules, std::span<const int> node_of);

  struct OfRank {
    std::vector<End> ends;
    std::vector<std::size_t> first;     ///< by round
    std::vector<std::size_t> meetings;  ///< by round
  };
  std::vector<OfRank> ranks_;
  std::vector<Meeting> meetings_;
};

}  // namespace tutti::schedules
