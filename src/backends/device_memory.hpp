// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "call/context.hpp"
#include "call/memory.hpp"

namespace tutti::detail {

/// Gets zeroed pinned, device or managed memory, of the kind and size in `memory`. Collective, blocking. Errors, the
/// same on all ranks: not_built, cuda, out_of_memory.
void take_device_memory(Memory& memory, const Context& comm);

/// Whether NCCL registers the device memory of that function. Equal on all ranks.
[[nodiscard]] bool registers_device_memory(const Context& comm);

}  // namespace tutti::detail
