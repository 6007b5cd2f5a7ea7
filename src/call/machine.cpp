// SPDX-License-Identifier: BSD-3-Clause
#include "call/machine.hpp"

#include "schedules/layout.hpp"

namespace tutti::detail {

Wiring wiring_of(const Machine& machine) {
  Wiring wiring;
  wiring.spread = schedules::spread_of(machine.node_of, machine.size);
  wiring.on_node = machine.on_node;
  wiring.several_nodes = machine.several_nodes || wiring.spread.nodes > 1;
  wiring.oversubscribed = machine.oversubscribed;
  return wiring;
}

}  // namespace tutti::detail
