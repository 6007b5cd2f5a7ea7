// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "schedules/schedule.hpp"

namespace tutti::tools {

/// The steps in which a message travels. It leaves when the sender's round begins, and arrives in the step in which
/// both ends are there.
struct TimedMessage {
  int from = 0;
  int to = 0;
  schedules::Slice sent{};
  schedules::Slice received{};
  std::size_t leaves = 0;
  std::size_t arrives = 0;
};

/// The local work at the end of a rank's round.
struct TimedLocal {
  int rank = 0;
  std::size_t step = 0;
  schedules::Local local{};
};

/// The schedules of all ranks on one clock: a round lasts from the end of the one before it until its last message has
/// arrived, at least one step. Sends do not wait for their receives.
struct Timeline {
  std::size_t steps = 0;
  std::vector<TimedMessage> messages;
  std::vector<TimedLocal> locals;
};

/// schedules[r] belongs to rank r. Throws Error(internal) if a message has only one end or a rank waits forever.
[[nodiscard]] Timeline timeline_of(std::span<const schedules::Schedule> schedules);

}  // namespace tutti::tools
