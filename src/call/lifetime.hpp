// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tutti::detail {

struct Context;

/// Registers a communicator to be freed when MPI_Finalize deletes the attributes of MPI_COMM_SELF, in creation order.
void register_context(Context* state);
void unregister_context(Context* state) noexcept;

}  // namespace tutti::detail
