// SPDX-License-Identifier: BSD-3-Clause
#include "support/proof/rendezvous.hpp"

#include <fmt/format.h>

#include "schedules/text.hpp"
#include "support/proof/fault.hpp"

namespace tutti::schedules {

void Rendezvous::check_end() const {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const auto& rounds = schedules_[i].rounds;
    if (ranks_[i].posted == rounds.size() && ranks_[i].pending == 0) continue;
    const std::size_t k = ranks_[i].posted - 1;
    if (rounds[k].exchange) {
      const std::size_t number = matching_.meeting_of(static_cast<int>(i), k);
      if (met_[number] < matching_.meeting(number).size())
        throw Fault(fmt::format("deadlock: rank {} waits in round {} for the others of its node in {}", i, k,
                                to_text(*rounds[k].exchange)));
    }
    for (std::size_t j = 0; j < rounds[k].transfers.size(); ++j) {
      const End& end = matching_.other_end(static_cast<int>(i), k, j);
      if (ranks_[end.rank].posted <= end.round)
        throw Fault(fmt::format("deadlock: rank {} waits in round {} to {}, which rank {} posts in its round {}", i, k,
                                to_text(rounds[k].transfers[j]), end.rank, end.round));
    }
  }
}

}  // namespace tutti::schedules
