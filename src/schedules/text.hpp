// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "schedules/schedule.hpp"

namespace tutti::schedules {

/// A slice as "output[4, 8)".
[[nodiscard]] std::string to_text(const Slice& slice);

/// A transfer as "send output[4, 8) to 3".
[[nodiscard]] std::string to_text(const Transfer& transfer);

/// An exchange as "bcast on the node, root 0, count 8: output[0, 8) to output[0, 8)".
[[nodiscard]] std::string to_text(const Exchange& exchange);

/// A local step as "output[0, 4) = input[0, 4) op scratch[0, 4)".
[[nodiscard]] std::string to_text(const Local& local);

/// Lists a schedule, one line per step.
[[nodiscard]] std::string to_text(const Schedule& schedule);

}  // namespace tutti::schedules
