// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/automatic.hpp"

#include <algorithm>

namespace tutti::detail::shm {

void Automatic::begin(const Exchange& exchange, std::byte* /*scratch*/) {
  choice_ = Choice::none;
  SingleCopy::describe(exchange);
  slots_.announce(exchange);
}

bool Automatic::choose(const Exchange& exchange) {
  std::size_t largest = 0;
  for (int r = 0; r < exchange.arena->size(); ++r) {
    if (exchange.published(r) == 0 || !exchange.agrees(r)) return false;
    largest = std::max(largest, exchange.largest_of(r));
  }
  if (!Slots::fits(exchange, largest) && exchange.arena->direct_copy()) {
    single_copy_.reset(nullptr);
    choice_ = Choice::single_copy;
    return true;
  }
  slots_.resume(exchange, largest);
  choice_ = Choice::slots;
  return true;
}

bool Automatic::step(const Exchange& exchange) {
  if (choice_ == Choice::none && !choose(exchange)) return false;
  return choice_ == Choice::slots ? slots_.step(exchange) : single_copy_.step(exchange);
}

void Automatic::finish(const Exchange& exchange) {
  if (choice_ == Choice::slots) slots_.finish(exchange);
}

}  // namespace tutti::detail::shm
