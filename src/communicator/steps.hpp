// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "call/context.hpp"

/// The steps of making a communicator that the factories share.
namespace tutti::detail {

/// Takes a communicator of the library's own, and rank and size from it.
void use_private(Context& context, MPI_Comm comm);

void use_topology(Context& context, Topology topology);

/// Collective.
void load_measurements(Context& context);

/// Makes the states of all backends. Collective. All choices here follow from shared facts.
void create_states(Context& context);

/// Whether the host MPI can make communicators late, beside collectives.
[[nodiscard]] bool makes_late();

/// Whether the communicator for messages is made at once: a nonblocking call must post its messages before it returns,
/// and so needs it by then.
[[nodiscard]] bool will_send(const Context& context);

}  // namespace tutti::detail
