// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/nccl/comm.hpp"
#include "call/plan.hpp"
#include "operation/binding.hpp"
#include "schedules/schedule.hpp"

namespace tutti::detail::nccl {

/// A piece of this rank, and its place in a window of the receiver.
struct Put {
  schedules::Slice from{};
  int peer = 0;
  std::uint64_t range = 0;   ///< this rank's own of that window
  std::uint64_t offset = 0;  ///< in the receiver's
};

/// What one rank puts, and the ranks that put into its windows: at most one piece from each rank to each other.
struct Puts {
  std::vector<Put> puts{};
  std::vector<int> sources{};
};

/// The places of the pieces of a persistent call, which the ranks tell one another. The schedule sends each piece once,
/// from the user's buffers to the user's buffers. Null on all ranks, with the first rank and its reason in `why`, if
/// some buffer lies in no window, NCCL puts nothing there, or a rank gives a reason of its own in `why`. Throws
/// mismatch, on all ranks, if a rank sends another number of bytes than its peer expects. Collective over `context`,
/// blocking.
[[nodiscard]] std::shared_ptr<const Puts> agree_on_puts(const Context& context, const Comm& comm, const Plan& plan,
                                                        const schedules::Schedule& schedule, const Binding& binding,
                                                        std::string& why);

}  // namespace tutti::detail::nccl
