// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
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

/// The other end of each transfer: messages between one pair of ranks match in the order in which they stand.
class Matching {
 public:
  /// Throws Fault where a transfer has no valid peer, no counterpart, or one of another size.
  explicit Matching(const std::vector<Schedule>& schedules);

  [[nodiscard]] const End& other_end(int rank, std::size_t round, std::size_t index) const {
    const auto& of_rank = ranks_[static_cast<std::size_t>(rank)];
    return of_rank.ends[of_rank.first[round] + index];
  }

 private:
  struct OfRank {
    std::vector<End> ends;
    std::vector<std::size_t> first;  ///< by round
  };
  std::vector<OfRank> ranks_;
};

}  // namespace tutti::schedules
