// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tutti::detail {

struct CommState;

/// Registers a communicator to be freed when MPI_Finalize deletes the attributes of MPI_COMM_SELF, in creation order.
void register_comm(CommState* state);
void unregister_comm(CommState* state) noexcept;

}  // namespace tutti::detail
