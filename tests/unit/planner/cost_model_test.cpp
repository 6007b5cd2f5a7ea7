// SPDX-License-Identifier: BSD-3-Clause
#include "call/cost_model.hpp"

#include <gtest/gtest.h>

#include "schedules/layout.hpp"

namespace tutti::detail {
namespace {

using schedules::find_algorithm;

Signature allreduce_of(std::size_t count) {
  Signature s;
  s.operation = Operation::allreduce;
  s.type = DatatypeKind::float32;
  s.count = count;
  return s;
}

Wiring wiring(int nodes, int per_node) {
  std::vector<int> node_of;
  for (int rank = 0; rank < nodes * per_node; ++rank) node_of.push_back(rank / per_node);
  Wiring w;
  w.spread = schedules::spread_of(node_of, nodes * per_node);
  w.several_nodes = nodes > 1;
  return w;
}

TEST(CostModel, AddsWhatACallDoes) {
  const Link link{1e-6, 1e-7, 1e9, 4e9, 2e9, 8e9};
  const schedules::Cost cost{.rounds = 3, .bytes = 1000, .reduced_bytes = 4000, .copied_bytes = 8000, .messages = 5};
  EXPECT_DOUBLE_EQ(seconds(cost, link, 1, 0), 3e-6 + 5e-7 + 1e-6 + 2e-6 + 1e-6);
  EXPECT_DOUBLE_EQ(seconds(cost, link, 1, 2e-6), 9e-6 + 5e-7 + 1e-6 + 2e-6 + 1e-6);
  // Eight senders of a node share what four could use in full.
  EXPECT_DOUBLE_EQ(seconds(cost, link, 8, 0), 3e-6 + 5e-7 + 2e-6 + 2e-6 + 1e-6);
}

TEST(CostModel, TheNetworkCostsMoreThanANode) {
  const auto& ring = *find_algorithm(Operation::allreduce, "ring");
  EXPECT_GT(predict(ring, allreduce_of(1000), wiring(2, 4)), predict(ring, allreduce_of(1000), wiring(1, 8)));
}

TEST(CostModel, SlowerMessagesAndCopiesCostMore) {
  const auto& ring = *find_algorithm(Operation::allreduce, "ring");
  const double typical = predict(ring, allreduce_of(1 << 20), wiring(1, 8));
  for (double detail::Costs::*cost :
       {&detail::Costs::message, &detail::Costs::message_gap, &detail::Costs::message_byte, &detail::Costs::combine}) {
    detail::Costs costs;
    costs.*cost *= 200;
    EXPECT_GT(predict(ring, allreduce_of(1 << 20), wiring(1, 8), detail::links_of(costs)), 1.05 * typical);
  }
}

TEST(CostModel, FlatIsPricedByTheWorstLevelAndHierarchicalByTheSum) {
  const Wiring w = wiring(4, 8);
  const Signature s = allreduce_of(1);
  const Links links = detail::links_of(detail::typical_costs);
  const auto* flat = find_algorithm(Operation::allreduce, "recursive_doubling");
  const auto* leaders = find_algorithm(Operation::allreduce, "hierarchical");
  EXPECT_DOUBLE_EQ(predict(*flat, s, w), seconds(flat->cost(32, 4), links[LinkLevel::network], 8, 0));
  const schedules::LevelCost cost = leaders->level_cost(w.spread, 4);
  EXPECT_DOUBLE_EQ(predict(*leaders, s, w), seconds(cost.on_node, links[LinkLevel::cache], 1, 0) +
                                                seconds(cost.across, links[LinkLevel::network], 1, 0));
  EXPECT_LT(predict(*leaders, s, w), predict(*flat, s, w));
}

TEST(CostModel, LinksOfOnesOwn) {
  Links slow_network = detail::links_of(detail::typical_costs);
  slow_network.levels.back().latency = 1;
  const auto* leaders = find_algorithm(Operation::allreduce, "hierarchical");
  EXPECT_GT(predict(*leaders, allreduce_of(1), wiring(2, 4), slow_network), 1);
}

TEST(CostModel, RingsOfAdjacentRanksLeaveANodeOnce) {
  const auto* ring = find_algorithm(Operation::allreduce, "ring");
  const Wiring adjacent = wiring(4, 8);
  Wiring apart = adjacent;
  apart.spread.adjacent = false;
  EXPECT_LT(predict(*ring, allreduce_of(10'000'000), adjacent), predict(*ring, allreduce_of(10'000'000), apart));
}

Topology two_nodes(std::vector<Place> places) {
  Topology topology;
  topology.nodes = 2;
  topology.places = std::move(places);
  return topology;
}

TEST(CostModel, LevelsFromTheTopology) {
  // Columns: node, local rank, NUMA node, L3.
  const Topology cache = two_nodes({{0, 0, 0, 0}, {0, 1, 0, 0}, {1, 0, 0, 1}, {1, 1, 0, 1}});
  EXPECT_EQ(level_on_node(cache), LinkLevel::cache);
  EXPECT_EQ(nodes_of(cache), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(level_on_node(two_nodes({{0, 0, 0, 0}, {0, 1, 0, 0}, {1, 0, 0, 1}, {1, 1, 0, 2}})), LinkLevel::numa);
  EXPECT_EQ(level_on_node(two_nodes({{0, 0, 0, 0}, {0, 1, 1, 3}, {1, 0, 0, 1}, {1, 1, 0, 2}})), LinkLevel::node);
  EXPECT_EQ(level_on_node(two_nodes({{0, 0, -1, -1}, {0, 1, -1, -1}, {1, 0, 0, 1}, {1, 1, 0, 1}})), LinkLevel::node);
  EXPECT_EQ(level_on_node(two_nodes({{0, 0, -1, -1}, {1, 0, -1, -1}})), LinkLevel::cache);
}

}  // namespace
}  // namespace tutti::detail
