// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tutti::detail {

struct Context;

/// Learns and agrees on all that device buffers need, and sets NCCL up, once; later calls return at once. The device is
/// that of `address`, or the current one. Collective over the communicator, blocking. Errors, the same on all ranks:
/// not_built, mismatch (a rank has no device, or another device than before).
void prepare_device(Context& comm, const void* address);

}  // namespace tutti::detail
