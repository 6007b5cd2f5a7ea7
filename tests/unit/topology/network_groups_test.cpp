// SPDX-License-Identifier: BSD-3-Clause
#include "topology/network_groups.hpp"

#include <gtest/gtest.h>

namespace {

using namespace tutti::detail;

/// What nodes tell of one source.
std::vector<NetworkMarks> nodes_of(NetworkSource source, const std::vector<std::vector<std::string>>& groups) {
  std::vector<NetworkMarks> nodes;
  for (const auto& path : groups) {
    NetworkPaths paths;
    paths[static_cast<std::size_t>(source)].groups = path;
    nodes.push_back(marks_of(paths));
  }
  return nodes;
}

using Levels = std::vector<std::vector<int>>;

TEST(NetworkGroups, AreCountedInTheOrderOfTheirFirstNodes) {
  const auto nodes = nodes_of(NetworkSource::slurm_address, {{"a", "l7"}, {"b", "l1"}, {"a", "l2"}, {"a", "l7"}});
  const NetworkGroups found = network_groups(nodes);
  EXPECT_EQ(found.source, NetworkSource::slurm_address);
  EXPECT_EQ(found.levels, (Levels{{0, 1, 0, 0}, {0, 1, 2, 0}}));
}

TEST(NetworkGroups, OfOneNameInTwoLargerOnesAreTwo) {
  const auto nodes = nodes_of(NetworkSource::slurm_file, {{"a", "leaf"}, {"b", "leaf"}, {"a", "leaf"}});
  EXPECT_EQ(network_groups(nodes).levels, (Levels{{0, 1, 0}, {0, 1, 0}}));
}

TEST(NetworkGroups, NeedASourceThatEveryNodeHas) {
  auto nodes = nodes_of(NetworkSource::given, {{"g"}, {}, {"g"}});
  EXPECT_FALSE(network_groups(nodes).source);
  EXPECT_TRUE(network_groups(nodes).levels.empty());
  // All of them have another one.
  for (std::size_t i = 0; i < nodes.size(); ++i)
    nodes[i].by_source[static_cast<std::size_t>(NetworkSource::xname)][0] = 1 + i % 2;
  EXPECT_EQ(network_groups(nodes).source, NetworkSource::xname);
  EXPECT_EQ(network_groups(nodes).levels, (Levels{{0, 1, 0}}));
  nodes[1].by_source[0][0] = 5;
  EXPECT_EQ(network_groups(nodes).source, NetworkSource::given) << "the first source counts";
  EXPECT_FALSE(network_groups({}).source);
}

TEST(NetworkGroups, AreAsDeepAsOnEveryNode) {
  const auto nodes = nodes_of(NetworkSource::given, {{"a", "b", "c"}, {"a", "d"}, {"a", "b", "e"}});
  EXPECT_EQ(network_groups(nodes).levels, (Levels{{0, 0, 0}, {0, 1, 0}}));
}

TEST(NetworkGroups, OfLongPathsAreTheSmallestOnes) {
  const auto nodes = nodes_of(NetworkSource::given, {{"z", "1", "2", "3", "4"}, {"z", "1", "2", "3", "5"}});
  EXPECT_EQ(network_groups(nodes).levels, (Levels{{0, 0}, {0, 0}, {0, 0}, {0, 1}}));
  // One that was left out still tells them apart.
  const auto apart = nodes_of(NetworkSource::given, {{"y", "1", "2", "3", "4"}, {"z", "1", "2", "3", "4"}});
  EXPECT_EQ(network_groups(apart).levels.back(), (std::vector<int>{0, 1}));
}

TEST(NetworkGroups, WithoutANameAreOne) {
  const auto nodes = nodes_of(NetworkSource::slurm_address, {{"", "a"}, {"", "b"}});
  EXPECT_EQ(network_groups(nodes).levels, (Levels{{0, 0}, {0, 1}}));
}

TEST(NetworkGroups, OfAPartAreCountedAnew) {
  const Levels whole{{0, 0, 1, 1, 2}, {0, 1, 2, 3, 4}};
  const std::vector<int> nodes{4, 2, 3};
  EXPECT_EQ(groups_of_part(whole, nodes), (Levels{{0, 1, 1}, {0, 1, 2}}));
  EXPECT_EQ(groups_of_part({}, nodes), Levels{});
}

}  // namespace
