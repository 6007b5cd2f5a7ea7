// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "call/context.hpp"

namespace tutti::detail {

/// Makes a communicator of the host MPI of the ranks that live on, in their order, with errors returned. They agree in
/// shared memory, because the messages of their communicator may be in doubt. Collective over them, blocking.
[[nodiscard]] MPI_Comm make_of_survivors(Context& context);

}  // namespace tutti::detail
