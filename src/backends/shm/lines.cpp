// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/lines.hpp"

namespace tutti::detail::shm {

const LineShape& Lines::own_shape_of(const Exchange& exchange) {
  if (!shape_)
    shape_.emplace(exchange.plan->signature, exchange.shape(), largest_block(exchange),
                   exchange.arena->oversubscribed());
  return *shape_;
}

}  // namespace tutti::detail::shm
