// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <tutti/options.hpp>

#include "communicator/plan.hpp"
#include "device/pool.hpp"

namespace tutti::detail {

struct CommState;

/// Where the copies of an operation go: the communicator's own stream, or, before the communicator is prepared for
/// device memory, one that all such operations of the process on that device share.
struct WorkStream {
  int device = 0;
  device::StreamHandle stream = nullptr;
};

/// The device is the communicator's, else that of the first of the addresses that is on one, else the current one.
[[nodiscard]] WorkStream work_stream(const CommState& comm, std::initializer_list<const void*> addresses);

/// The work on `work` waits for what is on the caller's stream now; nothing to do without one. `event` is used for it.
void follow(const WorkStream& work, const Stream& caller, device::Event& event);
/// What follows on the caller's stream waits for the event.
void precede(const Stream& caller, const device::Event& event);

/// Whether a call that is ordered on that stream may return before its communication is done: the progress thread goes
/// on with it, and the device's streams can wait for a word that the host writes.
[[nodiscard]] bool returns_at_once(const Stream& caller, int device);
/// Whether a blocking staged call does: not with a user's operation, which the caller may end after the call.
[[nodiscard]] bool leaves_at_once(const Plan& plan, const Stream& caller, int device);

}  // namespace tutti::detail
