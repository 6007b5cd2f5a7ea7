// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/snapshot.hpp"
#include "outofband/card.hpp"

namespace tutti::detail::flight {

/// A process that tells of the flight recorders of its host.
struct Host {
  outofband::Card card{};
  outofband::Token token{};
  std::uint64_t own = 0;  ///< the number of the process that asks
};

/// Keeps the processes that tell of other hosts, in the order of their ranks, and from now on tells them of this host.
/// Any thread.
void add_hosts(const std::vector<Host>& hosts);
[[nodiscard]] std::vector<Host> other_hosts();

/// The recorders of this process's job on its own host.
[[nodiscard]] Job own_job();
/// The same on another host; nothing, with the problem in words, if it gives no answer, or soon after is_over becomes
/// true.
[[nodiscard]] std::optional<Job> job_on(const Host& host, std::string& problem, const std::atomic<bool>& is_over);

}  // namespace tutti::detail::flight
