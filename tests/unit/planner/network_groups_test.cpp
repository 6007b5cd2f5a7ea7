// SPDX-License-Identifier: BSD-3-Clause
#include "call/network_groups.hpp"

#include <gtest/gtest.h>

#include "planner/candidates.hpp"
#include "planner/table.hpp"

namespace tutti::detail {
namespace {

using schedules::Factors;
using schedules::Flow;

/// Nodes in blocks of leaves, and these in blocks of islands.
NetworkLevels blocks(std::size_t nodes, std::size_t island, std::size_t leaf) {
  NetworkLevels groups(2);
  for (std::size_t node = 0; node < nodes; ++node) {
    groups[0].push_back(static_cast<int>(node / island));
    groups[1].push_back(static_cast<int>(node / leaf));
  }
  return groups;
}

/// The same nodes, dealt out to the leaves in turn.
NetworkLevels dealt(std::size_t nodes, std::size_t leaves) {
  NetworkLevels groups(1);
  for (std::size_t node = 0; node < nodes; ++node) groups[0].push_back(static_cast<int>(node % leaves));
  return groups;
}

/// Leaves with half as many links up as nodes: 1 us and 8 GB/s a node within one, 2 us and 16 GB/s of four nodes
/// beyond.
Fabric leaves_at_half() {
  Fabric fabric;
  fabric.at = {{{1e-6, 8e9}, {1e-6, 8e9}, {2e-6, 4e9}}};
  fabric.everywhere = 6e9;
  fabric.within_group = 8e9;
  fabric.by_group[0] = {1e-6, 0, 0};
  fabric.by_group[1] = {2e-6, 16e9, 16e9};
  return fabric;
}

std::vector<std::size_t> across(std::size_t nodes, std::size_t digit) {
  std::vector<std::size_t> partners;
  for (std::size_t node = 0; node < nodes; ++node) partners.push_back(node ^ (std::size_t{1} << digit));
  return partners;
}

TEST(GroupsApart, CountsTheLevelsFromTheSmallestGroups) {
  const NetworkLevels groups = blocks(16, 8, 4);
  EXPECT_EQ(groups_apart(groups, 0, 3), 0U);
  EXPECT_EQ(groups_apart(groups, 3, 4), 1U);
  EXPECT_EQ(groups_apart(groups, 7, 8), 2U);
  EXPECT_EQ(groups_apart({}, 0, 1), 0U);
}

TEST(GroupLoads, AreThoseOfTheBusiestGroup) {
  const NetworkLevels groups = blocks(16, 8, 4);
  EXPECT_EQ(loads_of(groups, across(16, 1)), (std::vector<GroupLoad>{{0, 0}, {0, 0}}));
  // Each leaf's four nodes send to the other leaf of their island.
  EXPECT_EQ(loads_of(groups, across(16, 2)), (std::vector<GroupLoad>{{4, 4}, {0, 0}}));
  // They all leave their island; between leaves of one island nothing goes.
  EXPECT_EQ(loads_of(groups, across(16, 3)), (std::vector<GroupLoad>{{4, 0}, {8, 8}}));
  // Some have no partner.
  EXPECT_EQ(loads_of(blocks(6, 6, 4), across(6, 2)), (std::vector<GroupLoad>{{2, 2}, {0, 0}}));
}

TEST(GroupLoads, OfNodesThatWereDealtOutAreOfManyPairs) {
  const NetworkLevels groups = dealt(16, 4);
  EXPECT_EQ(loads_of(groups, across(16, 0)), (std::vector<GroupLoad>{{4, 4}}));
  EXPECT_EQ(loads_of(groups, across(16, 2)), (std::vector<GroupLoad>{{0, 0}})) << "four apart is the same leaf";
}

TEST(GroupLoads, EverywhereGoToNodesOutside) {
  const std::vector<GroupLoad> loads = loads_everywhere(blocks(16, 8, 4));
  EXPECT_DOUBLE_EQ(loads[0].leaving, 4 * 12 / 15.0);
  EXPECT_DOUBLE_EQ(loads[1].leaving, 8 * 8 / 15.0);
  EXPECT_TRUE(loads_everywhere({}).empty());
}

TEST(NodesInOrder, HaveTheMeasuredDistancesWithoutGroups) {
  EXPECT_EQ(in_order(leaves_at_half(), {}), leaves_at_half());
  Fabric by_distance = leaves_at_half();
  by_distance.by_group = {};
  EXPECT_EQ(in_order(by_distance, dealt(16, 4)), by_distance) << "nothing was measured by group";
  EXPECT_EQ(in_order({}, dealt(16, 4)), Fabric{});
}

TEST(NodesInOrder, AsMeasuredHaveTheSameDistances) {
  const Fabric found = in_order(leaves_at_half(), blocks(8, 8, 4));
  EXPECT_EQ(found.at, leaves_at_half().at);
  EXPECT_DOUBLE_EQ(found.everywhere, 6e9) << "as measured";
}

TEST(NodesInOrder, ThatWereDealtOutHaveTheirNearNodesFarAway) {
  const Fabric found = in_order(leaves_at_half(), dealt(16, 4));
  EXPECT_EQ(found.at[0], (Fabric::Distance{2e-6, 4e9}));
  EXPECT_EQ(found.at[1], (Fabric::Distance{2e-6, 4e9}));
  EXPECT_EQ(found.at[2], (Fabric::Distance{1e-6, 8e9}));
  EXPECT_EQ(found.at[3], (Fabric::Distance{1e-6, 8e9}));
  EXPECT_EQ(distances_of(found), 4U);
}

TEST(NodesInOrder, ThatAreFewInAGroupFindRoomOnItsLinks) {
  // Two nodes of each leaf have the two links up for themselves; they answer as late as all.
  const Fabric found = in_order(leaves_at_half(), dealt(8, 4));
  EXPECT_EQ(found.at[0], (Fabric::Distance{2e-6, 8e9}));
  EXPECT_DOUBLE_EQ(found.everywhere, 6e9);
  // All on one leaf: nothing is slow, and no node is far.
  const Fabric near = in_order(leaves_at_half(), dealt(8, 1));
  EXPECT_EQ(near.at[2], (Fabric::Distance{1e-6, 8e9}));
  EXPECT_DOUBLE_EQ(factors_by_flow(near, 8)[static_cast<std::size_t>(Flow::trees)].start, 0.5);
}

TEST(NodesInOrder, LoadLinksBetweenTwoGroupsOrThoseOfOneToAll) {
  // A dragonfly: half the rate between two routers, and as much to all others together as the nodes send.
  Fabric dragonfly = leaves_at_half();
  dragonfly.by_group[1] = {2e-6, 16e9, 0};
  EXPECT_EQ(in_order(dragonfly, dealt(16, 4)).at[0].rate, 4e9);
  EXPECT_EQ(in_order(dragonfly, dealt(16, 4)).everywhere, 6e9);
  EXPECT_DOUBLE_EQ(in_order(leaves_at_half(), dealt(64, 8)).everywhere, 8e9 / (8 * 56 / 63.0 / 2));
  // Neighbours are dealt out to 16 groups of one node each.
  EXPECT_EQ(in_order(dragonfly, dealt(16, 16)).at[0].rate, 8e9);
}

TEST(NodesInOrder, ThatAllGoFarAreAsSlowAsThat) {
  Fabric full = leaves_at_half();
  full.within_group = 0;
  full.by_group[1].leaving = full.by_group[1].between = 8e9;
  const Fabric found = in_order(full, {{0, 1, 1, 0}});
  EXPECT_EQ(found.at[0].rate, 4e9);
  EXPECT_EQ(found.at[1].rate, 4e9);
  EXPECT_EQ(factors_by_flow(found, 4)[static_cast<std::size_t>(Flow::doubling)], (Factors{1, 2}));
}

// Single nodes of leaves with 16 links up, in no regular pattern: two messages meet on one of them.
TEST(NodesInOrder, ThatAreScatteredMeetOnLinksByChance) {
  NetworkLevels scattered(1);
  for (int node = 0; node < 64; ++node) scattered[0].push_back((node * node + node / 3) % 29);
  Fabric full = leaves_at_half();
  full.by_group[1].leaving = full.by_group[1].between = 16 * 8e9;
  for (const std::size_t digit : {1U, 2U, 3U, 4U, 5U})
    EXPECT_EQ(in_order(full, scattered).at[digit].rate, 4e9) << digit;
  full.by_group[1].leaving = 0;
  EXPECT_EQ(in_order(full, scattered).at[3].rate, 8e9) << "links that slow nothing";
}

TEST(NodesInOrder, TakeTheLatencyOfTheNextNearerGroups) {
  // Two levels of groups, and one was measured: nothing is known of the links of the other one.
  const Fabric found = in_order(leaves_at_half(), blocks(16, 8, 4));
  EXPECT_EQ(found.at[3], (Fabric::Distance{2e-6, 8e9}));
  Fabric far = leaves_at_half();
  far.by_group[0] = {};
  EXPECT_EQ(in_order(far, blocks(8, 8, 4)).at[0].latency, 2e-6) << "else of the next farther ones";
}

/// 64 nodes with one rank each.
class Job {
 public:
  explicit Job(NetworkLevels groups) : table_({}, links()) {
    topology_.network_groups = std::move(groups);
    fabric_ = fabric_of(&table_, topology_);
    machine_.size = map_.size();
    machine_.several_nodes = true;
    machine_.node_of = &map_;
    machine_.measured = &table_;
    machine_.fabric = &fabric_;
    machine_.costs.cache_part = 0;
  }
  [[nodiscard]] double seconds(Operation operation, std::size_t bytes, std::string_view name) const {
    for (const Candidate& way : candidates(call_of(operation, bytes), machine_))
      if (way.algorithm != nullptr && way.algorithm->name == name) return way.seconds;
    throw std::runtime_error("no candidate " + std::string(name));
  }

 private:
  static Links links() {
    Links links;
    links[LinkLevel::network] = {2e-6, 2e-7, 8e9, 8e9, 8e9};
    links.fabric = leaves_at_half();
    links.fabric.by_group[1].leaving = links.fabric.by_group[1].between = 8 * 8e9 / 4;
    return links;
  }
  static Signature call_of(Operation operation, std::size_t bytes) {
    Signature signature;
    signature.operation = operation;
    signature.type = DatatypeKind::float32;
    signature.count = bytes / 4;
    return signature;
  }

  schedules::NodeMap map_ = schedules::NodeMap::blocks(64, 1);
  Topology topology_{};
  tuning::Table table_;
  Fabric fabric_{};
  Machine machine_{};
};

TEST(NodesInOrder, DecideChoices) {
  const Job in_blocks(blocks(64, 64, 8));
  const Job dealt_out(dealt(64, 8));
  const std::size_t bytes = 1 << 18;
  // The ring stays in a leaf but for one message of eight; dealt out, all of its messages leave.
  EXPECT_GT(dealt_out.seconds(Operation::allreduce, 16 << 20, "ring"),
            1.5 * in_blocks.seconds(Operation::allreduce, 16 << 20, "ring"));
  // Halving sends its longest messages to near ranks where leaves are blocks.
  EXPECT_GT(dealt_out.seconds(Operation::allreduce, bytes, "rabenseifner"),
            1.2 * in_blocks.seconds(Operation::allreduce, bytes, "rabenseifner"));
  EXPECT_DOUBLE_EQ(dealt_out.seconds(Operation::bcast, 16 << 20, "double_tree"),
                   in_blocks.seconds(Operation::bcast, 16 << 20, "double_tree"));
}

}  // namespace
}  // namespace tutti::detail
