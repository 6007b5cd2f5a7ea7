// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>

#include "call/context.hpp"

namespace tutti::detail {

/// The handle of a communicator: the caller's, or one of its own. The first communicators have their own at once, later
/// ones when it is first asked for, because contexts are scarce.
enum class Handle : bool { callers, own };

/// Checks that the ranks agree on version, options and environment, makes the private communicator, discovers the
/// topology, and creates the states of all backends. Collective over `from`, which stays the caller's; the caller's
/// handle is set afterwards.
[[nodiscard]] std::shared_ptr<Context> make_context(MPI_Comm from, const CommunicatorOptions& options, Handle handle);
/// The same for a part of a communicator, or null for MPI_UNDEFINED; everything but its private communicator and states
/// follows from the parent. Collective over the parent.
[[nodiscard]] std::shared_ptr<Context> make_child_context(Context& parent, int color, int key);

/// Makes a communicator of the host MPI of the ranks that live on, in their order, with errors returned. They agree in
/// shared memory, because the messages of their communicator may be in doubt. Collective over them, blocking.
[[nodiscard]] MPI_Comm make_of_survivors(Context& context);

}  // namespace tutti::detail
