// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "call/backend.hpp"
#include "call/point_to_point.hpp"

namespace tutti::detail {

/// Makes one execution of sends and receives that are posted together. blocking: the caller waits for its end. Messages
/// always go over the host MPI, from and to any memory.
[[nodiscard]] std::shared_ptr<Execution> make_transfers(const ContextPtr& context, std::string name,
                                                        std::vector<PointToPoint> transfers, bool blocking,
                                                        const CallOptions& options);

}  // namespace tutti::detail
