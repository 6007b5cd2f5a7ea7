// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace tutti::detail::flight {

/// Starts a thread that says on standard error who waits for whom, once a call of this process has held its program for
/// longer than the limit. Of the ranks of a node that wait so long, the lowest one speaks, and again after twice the
/// time. The thread calls no MPI and reads the recorders of the node's processes. Any number of calls starts one.
/// aborts: the process that has spoken ends with a failure, so that its launcher ends the job.
void start_watchdog(std::chrono::nanoseconds limit, bool aborts);
/// Ends the thread, if there is one.
void stop_watchdog() noexcept;

}  // namespace tutti::detail::flight
