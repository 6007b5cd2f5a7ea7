// SPDX-License-Identifier: BSD-3-Clause
#include "call/fabric.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "call/plan.hpp"
#include "planner/candidates.hpp"
#include "planner/planner.hpp"
#include "planner/table.hpp"
#include "schedules/phase_choice.hpp"

namespace tutti::detail {
namespace {

using schedules::Factors;
using schedules::Flow;

/// Far nodes take twice as long to answer, and share links of half the rate.
Fabric tapered() {
  Fabric fabric;
  fabric.at = {{{1e-6, 8e9}, {1e-6, 8e9}, {2e-6, 4e9}}};
  fabric.everywhere = 8e9;
  return fabric;
}

Factors of(Flow flow, const Fabric& fabric, int nodes) {
  return factors_by_flow(fabric, nodes)[static_cast<std::size_t>(flow)];
}

TEST(Fabric, NothingChangesWithoutMeasurements) {
  EXPECT_EQ(distances_of({}), 0U);
  for (const int nodes : {1, 2, 3, 64, 10'000})
    for (const Factors& factors : factors_by_flow({}, nodes)) EXPECT_EQ(factors, Factors{}) << nodes;
}

TEST(Fabric, RoundsAreWeighedByTheBytesAtTheirDistances) {
  const Fabric fabric = tapered();
  EXPECT_EQ(distances_of(fabric), 3U);
  const auto expect = [&](Flow flow, double start, double bytes) {
    const Factors found = of(flow, fabric, 8);
    EXPECT_DOUBLE_EQ(found.start, start) << static_cast<int>(flow);
    EXPECT_DOUBLE_EQ(found.bytes, bytes) << static_cast<int>(flow);
  };
  // Three rounds, the last of which begins twice as late as the others, and takes twice as long.
  expect(Flow::alone, 1, 1);
  expect(Flow::trees, (0.5 + 0.5 + 1) / 3, 1);
  expect(Flow::doubling, (0.5 + 0.5 + 1) / 3, (1 + 1 + 2) / 3.0);
  expect(Flow::growing, (0.5 + 0.5 + 1) / 3, (1 + 2 + 4 * 2) / 7.0);
  expect(Flow::shrinking, (0.5 + 0.5 + 1) / 3, (4 + 2 + 2) / 7.0);
  // Bine's are at distances 1, 1 and 3: of the last, three quarters of all messages leave their half.
  expect(Flow::bine_doubling, (0.5 + 0.5 + 1) / 3, (1 + 1 + 1.5) / 3);
  expect(Flow::bine_growing, (0.5 + 0.5 + 1) / 3, (1 + 2 + 4 * 1.5) / 7);
  expect(Flow::bine_shrinking, (0.5 + 0.5 + 1) / 3, (4 + 2 + 1.5) / 7);
  expect(Flow::neighbours, (4 * 0.5 + 2 * 0.5 + 1) / 7, 1);
  expect(Flow::everywhere, 1, 1);
}

TEST(Fabric, DistancesThatWereNotMeasuredAreAsTheLastOne) {
  EXPECT_DOUBLE_EQ(of(Flow::doubling, tapered(), 64).bytes, (1 + 1 + 4 * 2) / 6.0);
  EXPECT_DOUBLE_EQ(of(Flow::doubling, tapered(), 33).bytes, (1 + 1 + 4 * 2) / 6.0);
  EXPECT_DOUBLE_EQ(of(Flow::doubling, tapered(), 4).bytes, 1);
}

TEST(Fabric, AllDistancesAtOnceAgainstTheBestOne) {
  Fabric fabric = tapered();
  fabric.everywhere = 2e9;
  EXPECT_DOUBLE_EQ(of(Flow::everywhere, fabric, 8).bytes, 4);
  fabric.everywhere = 9e9;
  EXPECT_DOUBLE_EQ(of(Flow::everywhere, fabric, 8).bytes, 1);
}

/// Nodes over a network of 1 us and 12.5 GB/s, with a table that has links alone.
class Cluster {
 public:
  Cluster(int nodes, int per_node, const Fabric& fabric)
      : map_(schedules::NodeMap::blocks(nodes * per_node, per_node)), table_({}, links_with(fabric)) {
    machine_.size = nodes * per_node;
    machine_.several_nodes = true;
    machine_.node_of = &map_;
    machine_.measured = &table_;
    machine_.costs.cache_part = 0;  // local work is cheap, and the network decides
  }
  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] std::string_view choice(Operation operation, std::size_t bytes) const {
    return make_plan(call_of(operation, bytes), machine_)->algorithm->name;
  }
  [[nodiscard]] double seconds(Operation operation, std::size_t bytes, std::string_view name) const {
    for (const Candidate& way : candidates(call_of(operation, bytes), machine_))
      if (way.algorithm != nullptr && way.algorithm->name == name) return way.seconds;
    throw std::runtime_error("no candidate " + std::string(name));
  }

 private:
  static Links links_with(const Fabric& fabric) {
    Links links;
    links[LinkLevel::network] = {1e-6, 2e-7, 12.5e9, 12.5e9, 12.5e9};
    links.fabric = fabric;
    return links;
  }
  [[nodiscard]] Signature call_of(Operation operation, std::size_t bytes) const {
    Signature signature;
    signature.operation = operation;
    signature.type = DatatypeKind::float32;
    signature.count = bytes / 4;
    if (tutti::has_equal_blocks(operation)) signature.count /= static_cast<std::size_t>(machine_.size);
    return signature;
  }

  schedules::NodeMap map_;
  tuning::Table table_;
  Machine machine_{};
};

TEST(Fabric, LongBlocksGoToNeighboursWhereFarExchangesAreSlow) {
  const Cluster wide(64, 1, {});
  const Cluster narrow(64, 1, tapered());
  const std::size_t gathered = 1 << 18;
  EXPECT_EQ(wide.choice(Operation::allgather, gathered), "recursive_doubling");
  EXPECT_NE(narrow.choice(Operation::allgather, gathered), "recursive_doubling");
  const std::size_t scattered = 1 << 17;
  EXPECT_EQ(wide.choice(Operation::reduce_scatter_block, scattered), "recursive_halving");
  EXPECT_NE(narrow.choice(Operation::reduce_scatter_block, scattered), "recursive_halving");
  Fabric crowded = tapered();
  crowded.everywhere = 4e9;
  const Cluster ring(64, 1, crowded);
  EXPECT_EQ(ring.choice(Operation::reduce_scatter_block, std::size_t{64} << 20), "ring");
  // Short ones stay with few rounds.
  EXPECT_EQ(narrow.choice(Operation::allgather, 256), "recursive_doubling");
}

/// The farther, the slower.
Fabric steep() {
  Fabric fabric;
  fabric.at = {{{1e-6, 8e9}, {1e-6, 8e9}, {1e-6, 4e9}, {1e-6, 2e9}, {1e-6, 1e9}, {1e-6, 5e8}}};
  fabric.everywhere = 5e8;
  return fabric;
}

TEST(Fabric, NearerPartnersWinWhereFarExchangesAreSlowAndNodesHaveOneRank) {
  const std::size_t bytes = 1 << 17;
  const auto ratio = [&](const Cluster& cluster, Operation operation, const char* bine, const char* doubled) {
    return cluster.seconds(operation, bytes, bine) / cluster.seconds(operation, bytes, doubled);
  };
  struct Pair {
    Operation operation;
    const char* bine;
    const char* doubled;
  };
  for (const auto& [operation, bine, doubled] : {Pair{Operation::allreduce, "bine_doubling", "recursive_doubling"},
                                                 Pair{Operation::allreduce, "bine_halving", "rabenseifner"},
                                                 Pair{Operation::reduce, "bine_halving", "rabenseifner"},
                                                 Pair{Operation::reduce_scatter_block, "bine_butterfly", "butterfly"},
                                                 Pair{Operation::allgather, "bine_butterfly", "butterfly"}}) {
    EXPECT_LT(ratio(Cluster(64, 1, steep()), operation, bine, doubled), 0.99) << bine;
    EXPECT_DOUBLE_EQ(ratio(Cluster(64, 1, {}), operation, bine, doubled), 1) << bine;
    // Partners at doubled distances are on one node in the first rounds.
    EXPECT_GT(ratio(Cluster(16, 4, {}), operation, bine, doubled), 1.01) << bine;
  }
  EXPECT_EQ(Cluster(64, 1, steep()).choice(Operation::allreduce, bytes), "bine_halving");
  EXPECT_EQ(Cluster(64, 1, {}).choice(Operation::allreduce, bytes), "rabenseifner");
}

TEST(Fabric, AnyNumberOfNodesGoesAroundACircle) {
  const Cluster sixty(60, 1, {});
  for (const Operation operation : {Operation::allreduce, Operation::reduce_scatter_block})
    EXPECT_EQ(sixty.choice(operation, 1 << 15), "circulant") << operation_name(operation);
  EXPECT_EQ(Cluster(61, 1, {}).choice(Operation::allgather, 61 << 12), "circulant");
  EXPECT_EQ(Cluster(64, 1, {}).choice(Operation::allreduce, 1 << 15), "rabenseifner");
  for (const Operation operation : {Operation::bcast, Operation::reduce})
    EXPECT_LT(sixty.seconds(operation, 1 << 20, "circulant"), 0.99 * sixty.seconds(operation, 1 << 20, "double_tree"));
  // All nodes send far in each round, where the nodes of trees do so in turn.
  const Cluster narrow(60, 1, tapered());
  EXPECT_GT(narrow.seconds(Operation::bcast, 1 << 24, "circulant"),
            1.2 * sixty.seconds(Operation::bcast, 1 << 24, "circulant"));
  // All ranks of a node send to other nodes, and share its link.
  const Cluster shared(15, 4, {});
  EXPECT_GT(shared.seconds(Operation::bcast, 1 << 24, "circulant"),
            3 * sixty.seconds(Operation::bcast, 1 << 24, "circulant"));
}

TEST(Fabric, AnyNumberOfNodesCombinesItsLongBlocksNearbyWhereFarExchangesAreSlow) {
  const Cluster even(60, 1, steep());
  const Cluster odd(61, 1, steep());
  for (const Operation operation : {Operation::allreduce, Operation::reduce_scatter_block}) {
    EXPECT_EQ(even.choice(operation, 60 << 14), "bine_blocks") << operation_name(operation);
    EXPECT_EQ(odd.choice(operation, 61 << 12), "sparbit") << operation_name(operation);
    // Short blocks in messages of their own are not worth it.
    EXPECT_LT(even.seconds(operation, 60 << 4, "circulant"), 0.5 * even.seconds(operation, 60 << 4, "bine_blocks"));
    EXPECT_EQ(Cluster(60, 1, {}).seconds(operation, 60 << 14, "sparbit"),
              Cluster(60, 1, {}).seconds(operation, 60 << 14, "bine_blocks"));
  }
}

TEST(Fabric, RadixOfAnAlltoallRisesWithItsBlocks) {
  const Cluster cluster(256, 1, {});
  EXPECT_EQ(cluster.choice(Operation::alltoall, 256 * 64), "bruck8");
  EXPECT_EQ(cluster.choice(Operation::alltoall, 256 * 128), "bruck16");
  EXPECT_EQ(cluster.choice(Operation::alltoall, 256 << 14), "direct");
}

TEST(Fabric, PiecesForOneRankDoNotMoveFaster) {
  const auto* way = schedules::find_algorithm(Operation::allgather, "sparbit");
  const schedules::Cost cost = cost_of(*way, 64, 1 << 20);
  EXPECT_GT(schedules::at_once(cost), 10);
  EXPECT_EQ(schedules::partners_at_once(*way, cost), 1);
  const auto* circulant = schedules::find_algorithm(Operation::allgather, "circulant");
  EXPECT_GT(schedules::at_once(cost_of(*circulant, 64, 1 << 20)), 1.5);
  EXPECT_EQ(schedules::partners_at_once(*circulant, cost_of(*circulant, 64, 1 << 20)), 1);
  schedules::LevelPace pace;
  pace.factors[static_cast<std::size_t>(Flow::shrinking)].bytes = 3;
  EXPECT_DOUBLE_EQ(factors_of(*way, cost, pace).bytes, 3);
}

TEST(Fabric, TreesAreNotSlowedAndNearerNodesAnswerSooner) {
  const Cluster wide(64, 1, {});
  const Cluster narrow(64, 1, tapered());
  const std::size_t bytes = 16 << 20;
  EXPECT_LE(narrow.seconds(Operation::bcast, bytes, "double_tree"),
            wide.seconds(Operation::bcast, bytes, "double_tree"));
  EXPECT_LT(narrow.seconds(Operation::bcast, 8, "binomial"), 0.95 * wide.seconds(Operation::bcast, 8, "binomial"));
  EXPECT_DOUBLE_EQ(narrow.seconds(Operation::gather, 256, "linear"), wide.seconds(Operation::gather, 256, "linear"));
  EXPECT_GT(narrow.seconds(Operation::allreduce, bytes, "recursive_doubling"),
            1.2 * wide.seconds(Operation::allreduce, bytes, "recursive_doubling"));
  EXPECT_DOUBLE_EQ(narrow.seconds(Operation::allreduce, bytes, "scatter_allgather"),
                   wide.seconds(Operation::allreduce, bytes, "scatter_allgather"));
}

TEST(Fabric, PhasesBetweenNodesAreChosenAndPricedByIt) {
  Fabric crowded = tapered();
  crowded.everywhere = 4e9;
  const Cluster wide(64, 4, {});
  const Cluster narrow(64, 4, crowded);
  const auto flow_across = [](const Cluster& cluster) {
    schedules::LevelPace pace = wiring_of(cluster.machine()).spread.starts.across;
    pace.shared = std::numeric_limits<double>::infinity();  // one rank of each node
    return schedules::flow_of(schedules::flat_for(Operation::allgather, 64, 64 << 20, pace));
  };
  EXPECT_EQ(flow_across(wide), Flow::growing);
  EXPECT_EQ(flow_across(narrow), Flow::neighbours);
  const auto factors_across = [](const Cluster& cluster) {
    const auto* way = schedules::find_algorithm(Operation::allreduce, "hierarchical");
    return way->level_cost(wiring_of(cluster.machine()).spread, 8).across.factors;
  };
  EXPECT_EQ(factors_across(wide), Factors{});
  EXPECT_LT(factors_across(narrow).start, 1);
  EXPECT_GT(factors_across(narrow).bytes, 1);
  EXPECT_LT(narrow.seconds(Operation::allreduce, 8, "hierarchical"),
            wide.seconds(Operation::allreduce, 8, "hierarchical"));
}

TEST(Fabric, ARankThatLeavesItsNodeRoomIsNotSlowed) {
  const schedules::Cost cost{.rounds = 1, .bytes = 1e6, .messages = 1};
  const Link link{1e-6, 1e-7, 1e9, 1e9, 4e9, 1e9, 1e9};
  const Crowd one{.senders = 1, .hidden = 1, .factors = {1, 3}};
  const Crowd four{.senders = 4, .hidden = 1, .factors = {1, 3}};
  EXPECT_DOUBLE_EQ(seconds(cost, link, one, 0), 1e-6 + 1e-3);
  EXPECT_DOUBLE_EQ(seconds(cost, link, four, 0), 1e-6 + 3e-3);
}

TEST(Fabric, SeveralMessagesAtOnceTakeSeveralWaysWhereTheNetworkHasThem) {
  schedules::LevelPace pace;
  pace.factors[static_cast<std::size_t>(Flow::doubling)].bytes = 3;
  const auto* way = schedules::find_algorithm(Operation::allreduce, "recursive_multiplying");
  const schedules::Cost cost = cost_of(*way, 64, 4096);
  EXPECT_EQ(schedules::at_once(cost), 3);
  EXPECT_DOUBLE_EQ(factors_of(*way, cost, pace).bytes, 1);
  pace.factors[static_cast<std::size_t>(Flow::everywhere)].bytes = 2;
  EXPECT_DOUBLE_EQ(factors_of(*way, cost, pace).bytes, 2);
}

TEST(Fabric, ABroadcastThatScattersIsOutOfStep) {
  schedules::LevelPace pace{10'000, 0};
  pace.factors[static_cast<std::size_t>(Flow::growing)].bytes = 3;
  const auto* way = schedules::find_algorithm(Operation::bcast, "scatter_doubling");
  const auto factor = [&](double bytes) { return factors_of(*way, cost_of(*way, 64, bytes), pace).bytes; };
  EXPECT_DOUBLE_EQ(factor(1 << 10), 1);
  EXPECT_NEAR(factor(1e9), 2, 0.01);
}

TEST(Fabric, TrafficFollowsFromTheReachAndFromWhoSends) {
  const auto flow = [](Operation operation, const char* name) {
    return flow_of(*schedules::find_algorithm(operation, name));
  };
  EXPECT_EQ(flow(Operation::allgather, "ring"), Flow::neighbours);
  EXPECT_EQ(flow(Operation::allgather, "bruck"), Flow::growing);
  EXPECT_EQ(flow(Operation::allgather, "circulant"), Flow::growing);
  EXPECT_EQ(flow(Operation::allgather, "sparbit"), Flow::shrinking);
  EXPECT_EQ(flow(Operation::allgather, "bine_doubling"), Flow::bine_growing);
  EXPECT_EQ(flow(Operation::allreduce, "sparbit"), Flow::shrinking);
  EXPECT_EQ(flow(Operation::reduce_scatter, "bine_blocks"), Flow::bine_shrinking);
  EXPECT_EQ(flow(Operation::reduce, "bine_halving"), Flow::bine_shrinking);
  EXPECT_EQ(flow(Operation::allreduce, "bine_doubling"), Flow::bine_doubling);
  EXPECT_EQ(flow(Operation::alltoall, "bruck"), Flow::doubling);
  EXPECT_EQ(flow(Operation::alltoall, "direct"), Flow::everywhere);
  EXPECT_EQ(flow(Operation::scan, "direct"), Flow::everywhere);
  EXPECT_EQ(flow(Operation::allreduce, "rabenseifner"), Flow::shrinking);
  EXPECT_EQ(flow(Operation::allreduce, "recursive_doubling"), Flow::doubling);
  EXPECT_EQ(flow(Operation::allreduce, "reduce_bcast"), Flow::trees);
  EXPECT_EQ(flow(Operation::bcast, "binomial"), Flow::trees);
  EXPECT_EQ(flow(Operation::gather, "binomial"), Flow::trees);
  EXPECT_EQ(flow(Operation::bcast, "double_tree"), Flow::trees);
  EXPECT_EQ(flow(Operation::bcast, "circulant"), Flow::doubling);
  EXPECT_EQ(flow(Operation::gather, "linear"), Flow::alone);
}

}  // namespace
}  // namespace tutti::detail
