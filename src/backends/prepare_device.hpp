// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tutti::detail {

struct Context;

/// Discovers and agrees on the facilities for device buffers, and sets NCCL up, once; later calls return at once. The
/// device is the device of `address`, or the current one. Collective over the communicator, blocking. Errors, the same
/// on all ranks: not_built, mismatch (a rank has no device, or a different device than before).
void prepare_device(Context& comm, const void* address);

/// Prepares the parts of a communicator that is prepared and whose option nccl.split_share is set; otherwise does
/// nothing. The part of this rank is `part`, of the ranks with the same color; null: it is in none. Collective over
/// `whole`, blocking. Errors, the same on all ranks: nccl, after which `whole` is broken.
void prepare_parts(Context& whole, Context* part, int color);

}  // namespace tutti::detail
