// SPDX-License-Identifier: BSD-3-Clause
#include "backends/point_to_point.hpp"

#include "backends/mpi/point_to_point_execution.hpp"

namespace tutti::detail {

std::shared_ptr<Execution> make_transfers(const ContextPtr& context, std::string name,
                                          std::vector<PointToPoint> transfers, bool blocking,
                                          const CallOptions& options) {
  return std::make_shared<PointToPointExecution>(context, std::move(name), std::move(transfers), options.timeout,
                                                 blocking, options.stream);
}

}  // namespace tutti::detail
