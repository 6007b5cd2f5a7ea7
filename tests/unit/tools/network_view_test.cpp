// SPDX-License-Identifier: BSD-3-Clause
#include "tools/network_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/link_measurement.hpp"
#include "tools/program.hpp"
#include "tools/question.hpp"
#include "tools/tune_links.hpp"

namespace tutti::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Four nodes on two leaves of Slurm's.
NetworkView four() {
  NetworkView view{{"a", "b", "c", "d"}, std::vector<detail::NetworkPaths>(4), "SLURM_TOPOLOGY_ADDR"};
  for (std::size_t node = 0; node < 4; ++node) view.paths[node][1].groups = {"top", node == 1 ? "leaf1" : "leaf0"};
  return view;
}

TEST(NetworkView, NamesTheSmallestGroupsAndTheirNodes) {
  const std::string text = network_text(four());
  EXPECT_THAT(text, HasSubstr("Network: groups of nodes by SLURM_TOPOLOGY_ADDR\n"));
  EXPECT_THAT(text, HasSubstr("  top / leaf0  0, 2-3\n"));
  EXPECT_THAT(text, HasSubstr("  top / leaf1  1\n"));
  EXPECT_THAT(text, Not(HasSubstr("left out")));
}

TEST(NetworkView, SaysWhatIsLeftOut) {
  NetworkView view = four();
  view.paths[2][2].problem = "/etc/slurm/topology.conf: it does not name the node 'c'";
  view.paths[0][3].groups = view.paths[3][3].groups = {"x1", "x1c0"};
  EXPECT_THAT(network_problems(view), ElementsAre("topology.conf of c: /etc/slurm/topology.conf: it does not name the "
                                                  "node 'c'",
                                                  "xname: 2 of 4 nodes have it, and not b"));
  EXPECT_THAT(network_text(view), HasSubstr("  left out: xname: 2 of 4"));
  EXPECT_THAT(network_problems(four()), IsEmpty());
}

TEST(NetworkView, IsSilentOfOneNodeWithoutAny) {
  EXPECT_EQ(network_text(NetworkView{{"a"}, std::vector<detail::NetworkPaths>(1), ""}), "");
  EXPECT_EQ(network_text(NetworkView{}), "");
  EXPECT_EQ(network_text(NetworkView{{"a", "b"}, std::vector<detail::NetworkPaths>(2), ""}),
            "Network: no groups of nodes are known\n");
}

TEST(NetworkView, GoesThroughJson) {
  detail::NetworkPaths paths;
  paths[1] = {{"top", "leaf\xff"}, ""};
  paths[3].problem = "none";
  const detail::NetworkPaths back = paths_from_json(paths_to_json(paths));
  EXPECT_EQ(back[3], paths[3]);
  EXPECT_EQ(back[1].groups.size(), 2U);
  EXPECT_EQ(paths_from_json(""), detail::NetworkPaths{});
  const auto value = nlohmann::json::parse(network_json(four()));
  EXPECT_EQ(value["source"], "SLURM_TOPOLOGY_ADDR");
  EXPECT_EQ(value["nodes"][1], nlohmann::json({"top", "leaf1"}));
  EXPECT_TRUE(value["problems"].empty());
  EXPECT_TRUE(nlohmann::json::parse(network_json(NetworkView{}))["nodes"].empty());
}

TEST(ImaginedGroups, AreBlocksOfNodes) {
  EXPECT_EQ(imagined_groups("4,2", 6), (std::vector<std::vector<int>>{{0, 0, 0, 0, 1, 1}, {0, 0, 1, 1, 2, 2}}));
  EXPECT_TRUE(imagined_groups("", 6).empty());
  for (const char* wrong : {"0", "x", "-1", "4,3", "4,8", "4,,2", "4 ", "16,8,4,2,1", "99999999999"})
    EXPECT_THROW((void)imagined_groups(wrong, 6), UsageError) << wrong;
}

TEST(NetworkText, CountsTheGroupsOfEachLevel) {
  Topology topology = imagined_topology(6, 6, 2, Place{});
  EXPECT_EQ(network_text(topology), "no groups of nodes are known");
  topology.network_groups = imagined_groups("4,2", 6);
  topology.network_source = "--groups";
  EXPECT_EQ(network_text(topology), "groups of nodes by --groups: 2 of up to 4, 3 of up to 2");
}

/// Two groups of two nodes in each of two larger ones, with two ranks a node.
TEST(GroupMeasurement, PairsAreOfNodesThatFarApart) {
  const detail::NetworkLevels groups = imagined_groups("4,2", 8);
  NodeRanks nodes;
  for (int node = 0; node < 8; ++node) nodes.push_back({2 * node, 2 * node + 1});
  EXPECT_EQ(pairs_between_groups(0, groups, nodes),
            (Pairs{{0, 2}, {1, 3}, {4, 6}, {5, 7}, {8, 10}, {9, 11}, {12, 14}, {13, 15}}));
  EXPECT_EQ(pairs_between_groups(1, groups, nodes),
            (Pairs{{0, 4}, {1, 5}, {2, 6}, {3, 7}, {8, 12}, {9, 13}, {10, 14}, {11, 15}}));
  EXPECT_EQ(pairs_between_groups(2, groups, nodes),
            (Pairs{{0, 8}, {1, 9}, {2, 10}, {3, 11}, {4, 12}, {5, 13}, {6, 14}, {7, 15}}));
  nodes[5].pop_back();
  EXPECT_EQ(pairs_between_groups(0, groups, nodes), (Pairs{{0, 2}, {4, 6}, {8, 10}, {12, 14}})) << "one rank of each";
}

TEST(GroupMeasurement, HasARowForEachKindOfPairs) {
  detail::Fabric fabric;
  fabric.at = {{{1e-6, 8e9}}};
  fabric.everywhere = 8e9;
  EXPECT_THAT(fabric_text(fabric), Not(HasSubstr("groups apart")));
  fabric.by_group[0].latency = 1e-6;
  fabric.by_group[2] = {2e-6, 16e9, 0};
  const std::string text = fabric_text(fabric);
  EXPECT_THAT(text, HasSubstr("none          1.00\n"));
  EXPECT_THAT(text, HasSubstr("2 levels      2.00        16.00            as its nodes\n"));
  EXPECT_THAT(text, Not(HasSubstr("1 level")));
}

}  // namespace
}  // namespace tutti::tools
