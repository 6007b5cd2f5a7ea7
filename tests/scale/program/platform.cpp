// SPDX-License-Identifier: BSD-3-Clause
// The simulated clusters of the study, as smpirun loads them: TUTTI_SCALE_NETWORK names one of them.
#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string>

#include "model.hpp"

namespace {

namespace sg4 = simgrid::s4u;
using tutti::scale::model;

std::pair<simgrid::kernel::routing::NetPoint*, simgrid::kernel::routing::NetPoint*> make_node(
    sg4::NetZone* zone, const std::vector<unsigned long>& /*place*/, unsigned long number) {
  const sg4::Host* host = zone->create_host("node" + std::to_string(number), 1e9)->seal();
  return {host->get_netpoint(), nullptr};
}

/// The memory of a node, which all messages between its ranks share. The latency is that by which a single message gets
/// the rate of one rank; Model::latency_factor() turns it into the one that messages wait.
sg4::Link* make_memory(sg4::NetZone* zone, const std::vector<unsigned long>& /*place*/, unsigned long number) {
  return zone->create_link("memory" + std::to_string(number), model.node_rate)
      ->set_latency(model.bounding_latency())
      ->set_sharing_policy(sg4::Link::SharingPolicy::SHARED)
      ->seal();
}

}  // namespace

extern "C" void load_platform(const sg4::Engine& /*engine*/) {
  const sg4::ClusterCallbacks parts(make_node, make_memory, {});
  const char* name = std::getenv("TUTTI_SCALE_NETWORK");
  const std::string network = name == nullptr ? "fat_tree" : name;
  constexpr auto policy = sg4::Link::SharingPolicy::SPLITDUPLEX;
  sg4::NetZone* zone = nullptr;
  // 1,024 nodes each. Fat tree: 32 leaves of 32 nodes, with as many links up as down. Dragonfly: 8 groups of 2 chassis
  // of 16 routers of 4 nodes; links are 16 wide between groups, 8 between chassis, 2 between routers of a chassis.
  // SimGrid wants at least as many routers in a chassis as there are groups.
  if (network == "tapered")  // the fat tree with half as many links up
    zone = sg4::create_fatTree_zone("cluster", nullptr, {2, {32, 32}, {1, 16}, {1, 1}}, parts, model.link_rate,
                                    model.link_latency, policy);
  else if (network == "fat_tree")
    zone = sg4::create_fatTree_zone("cluster", nullptr, {2, {32, 32}, {1, 32}, {1, 1}}, parts, model.link_rate,
                                    model.link_latency, policy);
  else if (network == "dragonfly")
    zone = sg4::create_dragonfly_zone("cluster", nullptr, {{8, 16}, {2, 8}, {16, 2}, 4}, parts, model.link_rate,
                                      model.link_latency, policy);
  else
    throw std::invalid_argument("TUTTI_SCALE_NETWORK is none of fat_tree, tapered, dragonfly: " + network);
  zone->seal();
}
