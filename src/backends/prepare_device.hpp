// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "call/context.hpp"
#include "call/memory.hpp"

namespace tutti::detail {

/// Discovers and agrees on the facilities for device buffers, and sets NCCL up, once; later calls return at once. The
/// device is the device of `address`, or the current one. Collective over the communicator, blocking. Errors, the same
/// on all ranks: not_built, mismatch (a rank has no device, or a different device than before).
void prepare_device(Context& comm, const void* address);

/// Prepares the parts of a communicator that is prepared and whose option nccl.split_share is set; otherwise does
/// nothing. The part of this rank is `part`, of the ranks with the same color; null: it is in none. Collective over
/// `whole`, blocking. Errors, the same on all ranks: nccl, after which `whole` is broken.
void prepare_parts(Context& whole, Context* part, int color);

/// Gets zeroed pinned, device or managed memory, of the kind and size in `memory`. Collective, blocking. Errors, the
/// same on all ranks: not_built, cuda, out_of_memory.
void take_device_memory(Memory& memory, const Context& comm);

/// Whether NCCL registers the device memory of that function. Equal on all ranks.
[[nodiscard]] bool registers_device_memory(const Context& comm);

}  // namespace tutti::detail
