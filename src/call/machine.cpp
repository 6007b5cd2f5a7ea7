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

Machine one_node_of(const Machine& machine, int ranks) {
  Machine node = machine;
  node.rank = 0;
  node.size = ranks;
  node.several_nodes = false;
  node.node_of = {};
  node.node_memory = {};
  node.shared_memory = machine.node_memory.is_shared;
  node.single_copy = machine.node_memory.single_copy;
  node.mapped_copy = machine.node_memory.mapped_copy;
  node.places = {};
  node.measured = nullptr;
  return node;
}

}  // namespace tutti::detail
