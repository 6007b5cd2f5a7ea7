// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "diagnosis/snapshot.hpp"

namespace tutti::detail::flight {

/// A rank of a communicator: its process, and its row there. Null: its recorder is not at hand.
struct Member {
  const Snapshot* snapshot = nullptr;
  const SeenCommunicator* communicator = nullptr;
};

/// The ranks of a communicator, in order.
using Members = std::vector<Member>;

/// The communicators of a job by their marks, as far as the recorders at hand know them.
[[nodiscard]] inline std::map<std::uint64_t, Members> members_of(const Job& job) {
  constexpr int most_ranks = 1 << 20;
  std::map<std::uint64_t, Members> all;
  for (const Snapshot& snapshot : job)
    for (const SeenCommunicator& communicator : snapshot.communicators) {
      const bool is_sound = communicator.mark != 0 && communicator.size > 0 && communicator.size <= most_ranks &&
                            communicator.rank >= 0 && communicator.rank < communicator.size;
      if (!is_sound) continue;
      Members& members = all[communicator.mark];
      if (members.empty()) members.resize(static_cast<std::size_t>(communicator.size));
      if (static_cast<std::size_t>(communicator.rank) < members.size())
        members[static_cast<std::size_t>(communicator.rank)] = {&snapshot, &communicator};
    }
  return all;
}

}  // namespace tutti::detail::flight
