// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tutti::detail {

struct Context;

/// Discovers and agrees on the facilities for device buffers, and sets NCCL up, once; later calls return at once. The
/// device is the device of `address`, or the current one. Collective over the communicator, blocking. Errors, the same
/// on all ranks: not_built, mismatch (a rank has no device, or a different device than before).
void prepare_device(Context& comm, const void* address);

}  // namespace tutti::detail
