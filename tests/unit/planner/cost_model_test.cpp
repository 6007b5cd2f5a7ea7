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

/// Of 1 us and 1 GB/s a message, 2 GB/s a rank, 4 GB/s a node.
constexpr Link link{1e-6, 1e-7, 1e9, 2e9, 4e9, 2e9, 8e9};

TEST(CostModel, AddsStartsBytesAndLocalWork) {
  const schedules::Cost cost{.rounds = 3, .bytes = 1000, .reduced_bytes = 4000, .copied_bytes = 8000, .messages = 3};
  EXPECT_DOUBLE_EQ(seconds(cost, link, {}, 0), 3e-6 + 1e-6 + 2e-6 + 1e-6);
  EXPECT_DOUBLE_EQ(seconds(cost, link, {}, 2e-6), 9e-6 + 1e-6 + 2e-6 + 1e-6);
  // Eight senders of a node share what four could use in full.
  EXPECT_DOUBLE_EQ(seconds(cost, link, {8}, 0), 3e-6 + 2e-6 + 2e-6 + 1e-6);
}

TEST(CostModel, FurtherMessagesOfARoundKeepARankBusy) {
  const schedules::Cost star{.rounds = 1, .messages = 21};
  // One way, 20 of 0.1 us; both ways, 21 sent and 21 received, in which the first start of 1 us is.
  EXPECT_DOUBLE_EQ(seconds(star, link, {1, false}, 0), 1e-6 + 2e-6);
  EXPECT_DOUBLE_EQ(seconds(star, link, {1, true}, 0), 4.2e-6);
}

TEST(CostModel, MessagesAtOnceHaveTheRateOfARank) {
  const schedules::Cost pair{.rounds = 1, .bytes = 100'000, .messages = 2};
  const schedules::Cost many{.rounds = 1, .bytes = 100'000, .messages = 10};
  // Each at its own rate, and the second one begins after the work on the first.
  EXPECT_DOUBLE_EQ(seconds(pair, link, {1, false, 1}, 0), 1e-6 + 50e-6 + 0.1e-6);
  EXPECT_DOUBLE_EQ(seconds(many, link, {1, false, 1}, 0), 1e-6 + 50e-6);
  // What does not hide is added.
  EXPECT_DOUBLE_EQ(seconds(many, link, {1, false, 0}, 0), 1e-6 + 50e-6 + 0.9e-6);
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

TEST(CostModel, BuffersFillTheLastLevelCaches) {
  detail::Costs costs;
  costs.cache_part = 1e-6;
  const auto lost = [&](Operation operation, std::size_t count) {
    Signature s = allreduce_of(count);
    s.operation = operation;
    return lost_part(s, 4, costs);
  };
  EXPECT_DOUBLE_EQ(lost(Operation::bcast, 100), 400e-6);
  for (const Operation operation : {Operation::allreduce, Operation::gather, Operation::scatter, Operation::scan})
    EXPECT_DOUBLE_EQ(lost(operation, 100), 800e-6) << static_cast<int>(operation);
  EXPECT_DOUBLE_EQ(lost(Operation::allgather, 100), 2000e-6);
  EXPECT_DOUBLE_EQ(lost(Operation::reduce_scatter_block, 100), 2000e-6);
  EXPECT_DOUBLE_EQ(lost(Operation::reduce_scatter, 400), 2000e-6);
  EXPECT_DOUBLE_EQ(lost(Operation::alltoall, 100), 3200e-6);
  EXPECT_DOUBLE_EQ(lost(Operation::alltoall, 1 << 20), 1);
}

TEST(CostModel, FlatIsPricedByItsReachAndHierarchicalByItsPhases) {
  const Wiring w = wiring(4, 8);
  const Signature s = allreduce_of(1);
  const Links links = detail::links_of(detail::typical_costs);
  const Link& node = links[LinkLevel::cache];
  const Link& network = links[LinkLevel::network];
  // Of five rounds, three stay on a node of eight.
  const auto* flat = find_algorithm(Operation::allreduce, "recursive_doubling");
  EXPECT_NEAR(predict(*flat, s, w), 3 * node.latency + 2 * network.latency, 1e-7);
  Wiring apart = w;
  apart.spread.adjacent = false;
  EXPECT_NEAR(predict(*flat, s, apart), 5 * network.latency, 1e-7);
  const auto* leaders = find_algorithm(Operation::allreduce, "hierarchical");
  const schedules::LevelCost cost = leaders->level_cost(w.spread, 4);
  ASSERT_EQ(cost.on_node.size(), 2U);
  double sum = seconds(cost.across.cost, network, {1, cost.across.both_ways, cost.across.hidden}, 0);
  for (const schedules::PhaseCost& phase : cost.on_node)
    sum += seconds(phase.cost, node, {phase.senders, phase.both_ways, phase.hidden}, 0);
  EXPECT_DOUBLE_EQ(predict(*leaders, s, w), sum);
}

TEST(CostModel, EveryTreeNeedsARoundBetweenNodes) {
  Signature s = allreduce_of(1);
  s.operation = Operation::bcast;
  const double latency = detail::links_of(detail::typical_costs)[LinkLevel::network].latency;
  for (const auto& [nodes, per_node] : {std::pair{2, 2}, {2, 8}, {4, 4}, {3, 32}})
    for (const char* tree : {"binomial", "knomial"})
      EXPECT_GE(predict(*find_algorithm(s.operation, tree), s, wiring(nodes, per_node)), latency) << nodes << per_node;
}

// Of five rounds of a tree of radix four, the second one has a block that stays on the node, and two that do not.
TEST(CostModel, ATreeOfBlocksWaitsForThoseThatLeaveANode) {
  Links links = detail::links_of(detail::typical_costs);
  const Wiring w = wiring(128, 8);
  links[w.on_node].overhead = links[LinkLevel::network].overhead = 0;
  Signature s = allreduce_of(0);
  s.operation = Operation::gather;
  EXPECT_NEAR(predict(*find_algorithm(s.operation, "knomial"), s, w, links),
              links[w.on_node].latency + 4 * links[LinkLevel::network].latency, 1e-9);
}

TEST(CostModel, FarPartnersOfLongMessagesCostMoreThanNearOnes) {
  // Both halve: one begins with the nearest partner, one with the farthest.
  const Wiring w = wiring(16, 16);
  Signature s = allreduce_of(1 << 16);
  s.operation = Operation::reduce_scatter_block;
  const auto* near = find_algorithm(s.operation, "butterfly");
  const auto* far = find_algorithm(s.operation, "recursive_halving");
  EXPECT_LT(predict(*near, s, w), predict(*far, s, w));
}

TEST(CostModel, PhasesBesideOneAnotherCostTheLongerOne) {
  Wiring w = wiring(16, 16);
  Links links = detail::links_of(detail::typical_costs);
  Signature s = allreduce_of(1 << 20);
  s.operation = Operation::bcast;
  const auto* pipeline = find_algorithm(s.operation, "hierarchical_pipeline");
  const auto seconds = [&] { return predict(*pipeline, s, w, links); };
  links[LinkLevel::network].rate = links[LinkLevel::network].several_rate = links[LinkLevel::network].shared_rate = 1e9;
  Link& node = links[w.on_node];
  node.rate = node.several_rate = 10e9;
  node.shared_rate = 160e9;
  const double before = seconds();
  // Bytes on the nodes hide behind those between nodes, but for the last chunk.
  node.rate = node.several_rate = 20e9;
  node.shared_rate = 320e9;
  EXPECT_LT(before, 1.05 * seconds());
  EXPECT_GT(before, 4.0 * (1 << 20) / 1e9);
  EXPECT_LT(before, predict(*find_algorithm(s.operation, "hierarchical"), s, w, links));
}

// An allreduce of a mebibyte on 16 nodes, by halving and doubling and by a pipeline.
TEST(CostModel, LongMessagesStartAtTheirOwnPaceButSaveNothingWhereTheyArePassedOn) {
  const Wiring w = wiring(16, 1);
  Links links = detail::links_of(detail::typical_costs);
  Link& network = links[LinkLevel::network];
  network.overhead = 0;
  network.copying_rate = 1e18;
  for (const std::size_t bytes : {std::size_t{256}, std::size_t{1} << 20U})
    for (const char* name : {"rabenseifner", "ring", "double_tree"}) {
      const auto* algorithm = find_algorithm(Operation::allreduce, name);
      const auto seconds = [&] { return predict(*algorithm, allreduce_of(bytes), w, links); };
      network.eager = 0;
      const double before = seconds();
      network.eager = 4096;
      network.long_latency = 10 * network.latency;
      const double all = 4 * static_cast<double>(bytes);
      const double rounds = bytes > 4096 ? cost_of(*algorithm, 16, all, w.spread.starts.through).rounds : 0;
      EXPECT_NEAR(seconds(), before + rounds * 9 * network.latency, 1e-3 * before) << name << bytes;
      network.long_latency = network.latency / 2;
      const bool saves = std::string_view(name) == "rabenseifner";
      EXPECT_NEAR(seconds(), before - (saves ? rounds * network.latency / 2 : 0), 1e-3 * before) << name << bytes;
    }
}

TEST(CostModel, AShortMessageIsCopiedAtBothEnds) {
  const Wiring w = wiring(16, 1);
  Links links = detail::links_of(detail::typical_costs);
  Link& network = links[LinkLevel::network];
  network.long_latency = network.latency;
  // The bytes that are copied, one copy after the other.
  const auto copied = [&](Operation operation, const char* name, std::size_t count) {
    Signature s = allreduce_of(count);
    s.operation = operation;
    const auto* algorithm = find_algorithm(operation, name);
    network.eager = 0;
    const double before = predict(*algorithm, s, w, links);
    network.eager = 4096;
    return (predict(*algorithm, s, w, links) - before) * network.copying_rate;
  };
  EXPECT_NEAR(copied(Operation::allreduce, "recursive_doubling", 256), 4 * 2 * 1024, 1);
  EXPECT_NEAR(copied(Operation::allreduce, "recursive_doubling", 1 << 20), 0, 1) << "long messages are not";
  EXPECT_NEAR(copied(Operation::gather, "linear", 256), 15 * 1024 + 1024, 1)
      << "all by the root, and the last one there";
  EXPECT_NEAR(copied(Operation::allreduce, "rabenseifner", 4096), 2 * 2 * (4 + 2 + 1) * 1024, 1)
      << "those of the last three rounds of halving, and of the first three of doubling";
}

// On nodes of several ranks each message of a ring is on a node or between two, and of one length.
TEST(CostModel, ARingsMessagesAreAsLongOnNodesOfSeveralRanks) {
  const Wiring w = wiring(16, 8);
  Links links = detail::links_of(detail::typical_costs);
  Link& network = links[LinkLevel::network];
  const auto* ring = find_algorithm(Operation::allreduce, "ring");
  const Signature s = allreduce_of(128 * 256);  // messages of 1 KiB
  const double before = predict(*ring, s, w, links);
  network.long_latency = 1000 * network.latency;
  network.eager = 1024;
  const double copies = 2 * cost_of(*ring, 128, 4 * 128 * 256).bytes / network.copying_rate;
  EXPECT_NEAR(predict(*ring, s, w, links), before + copies, 1e-3 * before);
  links[w.on_node].long_latency = links[w.on_node].latency;
  links[w.on_node].eager = 1024;
  EXPECT_LT(predict(*ring, s, w, links), before + 1.001 * copies) << "at both levels in the same rounds";
  network.eager = 1023;
  EXPECT_GT(predict(*ring, s, w, links), before + 100 * network.latency);
}

TEST(CostModel, PhasesHaveLongMessagesToo) {
  const Wiring w = wiring(16, 8);
  Links links = detail::links_of(detail::typical_costs);
  Link& network = links[LinkLevel::network];
  const Signature s = allreduce_of(1 << 16);
  for (const char* name : {"hierarchical", "hierarchical_pipeline"}) {
    const auto* algorithm = find_algorithm(s.operation, name);
    network.eager = 0;
    const double before = predict(*algorithm, s, w, links);
    network.eager = 16;
    network.long_latency = 1000 * network.latency;
    const schedules::LevelCost cost = algorithm->level_cost(w.spread, 4 << 16);
    ASSERT_NE(cost.across.flat, nullptr);
    const double later = cost.across.cost.rounds * 999 * network.latency;
    EXPECT_NEAR(predict(*algorithm, s, w, links), before + later, before) << name;
  }
}

TEST(CostModel, TheEndsOfLongMessagesSaveWorkUnlessManyAskForIt) {
  const Wiring w = wiring(16, 1);
  Links links = detail::links_of(detail::typical_costs);
  Link& network = links[LinkLevel::network];
  network.overhead = 0.2e-6;
  Signature s = allreduce_of(1 << 16);
  s.operation = Operation::gather;
  // What the work on further messages costs.
  const auto cost_of_work = [&](std::string_view name) {
    Links none = links;
    none[LinkLevel::network].overhead = 0;
    const auto* gather = find_algorithm(s.operation, name);
    return predict(*gather, s, w, links) - predict(*gather, s, w, none);
  };
  const double of_tree = cost_of_work("knomial");
  const double of_star = cost_of_work("linear");
  EXPECT_GT(of_tree, network.overhead);
  network.eager = 4096;
  network.long_latency = network.latency - network.overhead;
  EXPECT_NEAR(cost_of_work("knomial"), of_tree / 2, 0.01 * of_tree);
  EXPECT_NEAR(cost_of_work("linear"), of_star, 0.01 * of_star);
  network.long_latency = 2 * network.latency;
  EXPECT_NEAR(cost_of_work("knomial"), of_tree, 0.01 * of_tree);
}

TEST(CostModel, WhatOneRankTakesGoesAtItsOneWayRate) {
  const Wiring w = wiring(1, 16);
  Links links = detail::links_of(detail::typical_costs);
  Link& node = links[w.on_node];
  node.several_rate = 2 * node.rate;
  node.combining_rate = 1e18;
  Signature s = allreduce_of(1 << 20);
  s.operation = Operation::reduce;
  const auto seconds = [&](std::string_view name) { return predict(*find_algorithm(s.operation, name), s, w, links); };
  const double before = seconds("direct");
  const double exchanged = seconds("scatter_gather");
  node.one_way_rate = 4 * node.rate;
  EXPECT_NEAR(before / seconds("direct"), 2, 0.1);
  EXPECT_EQ(seconds("scatter_gather"), exchanged);
}

// Half of a reduce by halving is exchanged, and half goes to the root.
TEST(CostModel, WhatPassesOnGoesAtARateOfItsOwn) {
  const Wiring w = wiring(16, 1);
  Links links = detail::links_of(detail::typical_costs);
  Link& network = links[LinkLevel::network];
  network.rate = network.shared_rate = network.several_rate = 1e9;
  network.latency = network.overhead = 0;
  links[w.on_node].combining_rate = 1e18;
  Signature s = allreduce_of(1 << 20);
  const auto gain_of = [&](Operation operation, std::string_view name) {
    s.operation = operation;
    const auto seconds = [&] { return predict(*find_algorithm(operation, name), s, w, links); };
    network.passing_rate = 0;
    const double before = seconds();
    network.passing_rate = 2 * network.rate;
    return before / seconds();
  };
  EXPECT_NEAR(gain_of(Operation::allreduce, "ring"), 2, 0.01);
  EXPECT_NEAR(gain_of(Operation::bcast, "binomial"), 2, 0.01);
  EXPECT_NEAR(gain_of(Operation::allreduce, "rabenseifner"), 1, 0.01);
  EXPECT_NEAR(gain_of(Operation::allreduce, "recursive_doubling"), 1, 0.01);
  EXPECT_NEAR(gain_of(Operation::reduce, "rabenseifner"), 4.0 / 3, 0.01);
}

/// Of messages between 16 nodes that cost nothing but their starts.
Links of_starts(double latency, double overhead) {
  Links links = detail::links_of(detail::typical_costs);
  links[LinkLevel::network] = {.latency = latency,
                               .overhead = overhead,
                               .rate = 1e18,
                               .several_rate = 1e18,
                               .shared_rate = 1e18,
                               .copying_rate = 1e18};
  return links;
}

// Half of 15 blocks go in one round: 7.5, 3.75, 1.9 and 0.9 of them, of which a rank sends and receives each.
TEST(CostModel, SingleBlocksAreMostlyOfOneRound) {
  Signature s = allreduce_of(1);
  const auto seconds = [&s](Operation operation, std::string_view name) {
    s.operation = operation;
    return predict(*find_algorithm(operation, name), s, wiring(16, 1), of_starts(4e-6, 1e-6));
  };
  const double one_way = 16e-6 + (2 * 7.5 - 4) * 1e-6 + (2 * 3.75 - 4) * 1e-6 + 0.875e-6;
  EXPECT_NEAR(seconds(Operation::allgather, "sparbit"), one_way, 0.01e-6);
  EXPECT_NEAR(seconds(Operation::allgather, "bine_blocks"), one_way, 0.01e-6);
  EXPECT_NEAR(seconds(Operation::allreduce, "sparbit"), 2 * one_way, 0.01e-6);
}

// Most ranks of a doubling by Bine send one message a round, as long as those of the other doubling.
TEST(CostModel, RunsInTwoPiecesAreLongMessages) {
  Links links = of_starts(4e-6, 0);
  links[LinkLevel::network].eager = 4096;
  links[LinkLevel::network].long_latency = 9e-6;
  links[LinkLevel::network].copying_rate = 1e9;
  Signature s = allreduce_of(1);
  s.operation = Operation::allgather;
  for (s.count = 16; s.count < 1 << 16; s.count *= 2) {
    const auto seconds = [&](std::string_view name) {
      return predict(*find_algorithm(s.operation, name), s, wiring(16, 1), links);
    };
    EXPECT_DOUBLE_EQ(seconds("bine_doubling"), seconds("recursive_doubling")) << s.count;
  }
}

TEST(CostModel, StartsAreRounded) {
  Links links = detail::links_of(detail::typical_costs);
  links[LinkLevel::network] = {
      .latency = 0.8e-6, .overhead = 0.25e-6, .rate = 12e9, .several_rate = 24e9, .passing_rate = 18e9};
  links[LinkLevel::node] = {
      .latency = 0.5e-6, .rate = 10e9, .several_rate = 81e9, .shared_rate = 159e9, .one_way_rate = 121e9};
  const schedules::Starts starts = starts_of(links, LinkLevel::node, 4, 1);
  EXPECT_EQ(starts.across.start, 10240);
  EXPECT_EQ(starts.across.message, 3072);
  EXPECT_EQ(starts.across.several, 2);
  EXPECT_EQ(starts.on_node.start, 5120);
  EXPECT_EQ(starts.on_node.several, 8);
  EXPECT_EQ(starts.on_node.shared, 16);
  EXPECT_EQ(starts.on_node.one_way, 12);
  EXPECT_EQ(starts.across.one_way, 2);
  EXPECT_EQ(starts.across.passing, 1.5);
  EXPECT_EQ(starts.on_node.passing, 1);
  links[LinkLevel::network].latency *= 1.01;
  EXPECT_EQ(starts_of(links, LinkLevel::node, 4, 1).across.start, 10240);
  links.fabric.at = {{{0.79e-6, 10.1e9}, {1e-6, 4.95e9}}};
  const auto doubling = static_cast<std::size_t>(schedules::Flow::doubling);
  EXPECT_EQ(starts_of(links, LinkLevel::node, 4, 1).across.factors[doubling], (schedules::Factors{0.875, 1.5}));
  EXPECT_EQ(starts_of(links, LinkLevel::node, 4, 1).on_node.factors[doubling], schedules::Factors{});
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

// Exchanges with the next rank and the one before, in turn, leave the network idle in every second round.
TEST(CostModel, AlternatingExchangesUseTheNetworkHalfTheTime) {
  Links links = detail::links_of(detail::typical_costs);
  links[LinkLevel::network] = {
      .latency = 1e-6, .overhead = 1e-7, .rate = 12e9, .several_rate = 12e9, .shared_rate = 12e9};
  Signature s = allreduce_of(1 << 16);
  s.operation = Operation::allgather;
  const auto seconds = [&](std::string_view name, const Wiring& w) {
    Link& node = links[w.on_node];
    node.rate = node.several_rate = 10e9;
    node.shared_rate = 160e9;
    return predict(*find_algorithm(s.operation, name), s, w, links);
  };
  const double on_nodes = seconds("neighbor_exchange", wiring(16, 16)) / seconds("ring", wiring(16, 16));
  EXPECT_GT(on_nodes, 1.2);
  EXPECT_LT(on_nodes, 1.4);
  EXPECT_LT(seconds("neighbor_exchange", wiring(16, 1)), 1.01 * seconds("ring", wiring(16, 1)));
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
  EXPECT_EQ(level_on_node(two_nodes({{0, 0, -1, -1}, {1, 0, -1, -1}})), LinkLevel::core);
}

}  // namespace
}  // namespace tutti::detail
