// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "call/backend.hpp"
#include "call/neighborhood.hpp"
#include "call/signature.hpp"

namespace tutti::detail {

/// Neighborhood collectives. The communicator has a topology. A rank knows its own edges only, so the ends of an edge
/// agree on the way of its data, each for itself.

/// Makes a nonblocking or persistent execution.
[[nodiscard]] std::shared_ptr<Execution> make_neighbor_exchange(const ContextPtr& context, NeighborExchange&& exchange,
                                                                CallKind kind, const CallOptions& options);
/// Runs one to its end, without an execution on the heap.
void run_neighbor_exchange(const ContextPtr& context, NeighborExchange&& exchange, const CallOptions& options);

/// Whether blocks go through shared memory where it has room for them. Equal on all ranks.
[[nodiscard]] bool has_neighbor_slots(const Context& context) noexcept;

}  // namespace tutti::detail
