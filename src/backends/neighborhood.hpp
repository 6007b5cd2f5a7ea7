// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "call/backend.hpp"
#include "call/neighborhood.hpp"
#include "call/signature.hpp"

namespace tutti::detail {

/// Neighborhood collectives, which go over the host MPI's messages: a rank knows its own edges only, and by them alone
/// the ends of an edge can agree on a way. The communicator has a topology.

/// Makes a nonblocking or persistent execution.
[[nodiscard]] std::shared_ptr<Execution> make_neighbor_exchange(const ContextPtr& context, NeighborExchange&& exchange,
                                                                CallKind kind, const CallOptions& options);
/// Runs one to its end, without an execution on the heap.
void run_neighbor_exchange(const ContextPtr& context, NeighborExchange&& exchange, const CallOptions& options);

}  // namespace tutti::detail
