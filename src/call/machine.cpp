// SPDX-License-Identifier: BSD-3-Clause
#include "call/machine.hpp"

#include "call/network_groups.hpp"
#include "schedules/layout.hpp"

namespace tutti::detail {

Fabric fabric_of(const Measurements* measured, const Topology& topology) {
  const Links* links = measured != nullptr ? measured->links() : nullptr;
  return links != nullptr ? in_order(links->fabric, topology.network_groups) : Fabric{};
}

Links links_of(const Machine& machine) {
  const Links prior = links_of(machine.costs, machine.network);
  const Links* measured = machine.measured != nullptr ? machine.measured->links() : nullptr;
  Links links = measured != nullptr ? with_measured(prior, *measured) : prior;
  if (machine.fabric != nullptr) links.fabric = *machine.fabric;
  return links;
}

schedules::Starts starts_of(const Links& links, const Machine& machine, const Signature& signature) {
  const schedules::NodeMap none;
  const schedules::NodeMap& nodes = machine.node_of != nullptr ? *machine.node_of : none;
  schedules::Starts starts = starts_of(links, machine.on_node, nodes.nodes(), nodes.most());
  starts.order = signature.commutative ? schedules::KeepOrder::no : schedules::KeepOrder::yes;
  return starts;
}

Wiring wiring_of(const Machine& machine, const Signature& signature) {
  Wiring wiring;
  wiring.spread = machine.node_of != nullptr ? schedules::spread_of(*machine.node_of, machine.size)
                                             : schedules::spread_of({}, machine.size);
  wiring.spread.starts = starts_of(links_of(machine), machine, signature);
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
  node.node_of = nullptr;
  node.node_memory = {};
  node.shared_memory = machine.node_memory.is_shared;
  node.single_copy = machine.node_memory.single_copy;
  node.mapped_copy = machine.node_memory.mapped_copy;
  node.places = {};
  node.measured = nullptr;
  node.fabric = nullptr;
  return node;
}

}  // namespace tutti::detail
