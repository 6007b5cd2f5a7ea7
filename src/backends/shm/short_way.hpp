// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backends/shm/lines.hpp"
#include "call/backend.hpp"

namespace tutti::detail::shm {

/// The number of steps after which an execution continues a blocking call, if there is a core for each rank.
inline constexpr int steps_alone = 200;
/// The same for a nonblocking call: if all ranks come at about the same time, a short one is over by then.
inline constexpr int steps_begun = 40;

/// Makes a blocking call to its end. A call by any protocol but `automatic` uses only local variables if its cell is
/// free, it sends its input unchanged, and the other ranks arrive soon; an execution continues a call that this path
/// has begun, and makes all other calls.
void run_short_way(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const CallOptions& options);

/// The same for a nonblocking call, by `line` or `slots`: returns null if it is complete, else the execution that
/// continues it.
std::shared_ptr<Execution> begin_short_way(const ContextPtr& context, const PlanPtr& plan, Binding&& binding,
                                           const CallOptions& options);

/// Waits for the end of a blocking call by `line` that has taken its turn and given.
void wait_for_lines(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const Turn& turn, Lines given,
                    const CallOptions& options);
/// The execution of such a call that does not block, to be started.
[[nodiscard]] std::shared_ptr<Execution> go_on_with_lines(const ContextPtr& context, const PlanPtr& plan,
                                                          Binding&& binding, const Turn& turn, Lines given,
                                                          const CallOptions& options);

}  // namespace tutti::detail::shm
