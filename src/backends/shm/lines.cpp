// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/lines.hpp"

namespace tutti::detail::shm {

const LineShape& Lines::shape_of(const Exchange& exchange) {
  if (!has_shape_) shape_ = LineShape(exchange);
  has_shape_ = true;
  return shape_;
}

void Lines::begin(const Exchange& exchange) {
  place_ = shape_of(exchange).first();
  has_given_ = false;
}

void Lines::give(const Exchange& exchange) {
  if (!has_given_) shape_.give(exchange);
  has_given_ = true;
}

bool Lines::step(const Exchange& exchange) {
  if (!shape_.waits_first()) give(exchange);
  if (!shape_.have_come(exchange, place_, exchange.arena->oversubscribed() ? 1 : looks_at_flag)) return false;
  give(exchange);
  shape_.take(exchange);
  return true;
}

}  // namespace tutti::detail::shm
