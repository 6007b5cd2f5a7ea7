// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string_view>

#include "call/backend.hpp"
#include "call/neighborhood.hpp"
#include "operation/signature.hpp"

namespace tutti::detail {

/// Neighborhood collectives. The communicator has a topology. A rank knows its own edges only, so the ends of an edge
/// agree on the way of its data, each for itself.

/// Makes a nonblocking or persistent execution.
[[nodiscard]] std::shared_ptr<Execution> make_neighbor_exchange(const ContextPtr& context, NeighborExchange&& exchange,
                                                                CallKind kind, const CallOptions& options);
/// Runs one to its end, without an execution on the heap.
void run_neighbor_exchange(const ContextPtr& context, NeighborExchange&& exchange, const CallOptions& options);

/// For a rank that ends its call with an error before its turn: the others must not wait for it.
void refuse_neighbor_exchange(Context& context, flight::Call call) noexcept;

/// For a rank that cannot go on with its call, which the others count on: breaks the communicator by the exception that
/// is being handled, and throws it as Error.
[[noreturn]] void break_neighbor_exchange(Context& context, flight::Call call);

/// The way of blocks between ranks, a literal: "shm:slots", if all are on one node, "shm:slots+messages", if those of
/// this rank's node share memory, or empty for messages alone.
[[nodiscard]] std::string_view neighbor_way(Context& context) noexcept;

}  // namespace tutti::detail
