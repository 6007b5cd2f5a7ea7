// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "schedules/schedule.hpp"

namespace tutti::detail {
struct Plan;
}

namespace tutti::detail::nccl {

/// The buffers of a call that lie in windows, where NCCL has kernels and copy engines of their own for collectives.
struct Windows {
  bool input = false;
  bool output = false;
};

/// What a communicator of NCCL has connected for. NCCL connects at the first launch of an algorithm, which it chooses
/// by collective, type, operation, length and windows, and at the first message to a peer; such a launch waits for the
/// peers. Under the launch lock.
class Connections {
 public:
  /// Up to this number of ranks the first launches connect each to all others; each connection takes memory.
  static constexpr int most_peers = 32;

  /// The first launches of a communicator of `size` ranks are made.
  void add_first(int size) noexcept { has_all_peers_ = size <= most_peers; }
  /// Whether a launch of this plan needs no peer; schedule: null if it is one collective of NCCL.
  [[nodiscard]] bool cover(const Plan& plan, const schedules::Schedule* schedule, Windows windows) const;
  /// The plan was launched.
  void add(const Plan& plan, const schedules::Schedule* schedule, Windows windows);

 private:
  std::set<std::uint64_t> collectives_{};
  std::set<std::pair<bool, int>> peers_{};  ///< sends to a rank (true), receives from it
  bool has_all_peers_ = false;
  bool has_puts_ = false;  ///< which NCCL prepares between all ranks at the first one
};

}  // namespace tutti::detail::nccl
