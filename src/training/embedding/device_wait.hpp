// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "device/give_way.hpp"
#include "device/pool.hpp"
#include "training/embedding/batch_bags.hpp"

namespace tutti::detail {

/// On the host, while the library's other work goes on.
inline void wait_for(const device::Event& event) {
  while (!event.is_complete()) {
    device::give_way();
  }
}

/// Until all that is on the collection's stream now is done.
inline void wait_for_stream(const CollectionFacts& facts) {
  device::Event event;
  event.record(facts.device, facts.stream());
  wait_for(event);
}

}  // namespace tutti::detail
