// SPDX-License-Identifier: BSD-3-Clause
#include "backends/neighborhood.hpp"

#include <utility>

#include "backends/mpi/neighbor_execution.hpp"

namespace tutti::detail {

std::shared_ptr<Execution> make_neighbor_exchange(const ContextPtr& context, NeighborExchange&& exchange, CallKind kind,
                                                  const CallOptions& options) {
  return std::make_shared<NeighborExecution>(context, std::move(exchange), kind, options);
}

void run_neighbor_exchange(const ContextPtr& context, NeighborExchange&& exchange, const CallOptions& options) {
  NeighborExecution execution(context, std::move(exchange), CallKind::blocking, options);
  run_to_end(execution);
}

}  // namespace tutti::detail
