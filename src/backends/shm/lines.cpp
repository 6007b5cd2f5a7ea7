// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/lines.hpp"

namespace tutti::detail::shm {

void Lines::begin(const Exchange& exchange) {
  shape_ = LineShape(exchange);
  has_given_ = false;
  place_ = shape_.first();
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
