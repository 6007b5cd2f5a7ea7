// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

namespace tutti::preload {

/// A communicator of this rank alone, for messages to itself: copies of data have tag 0, completions of persistent
/// tokens the tags from 1 on. Made at the first call; any thread may call it.
[[nodiscard]] MPI_Comm private_self();

}  // namespace tutti::preload
