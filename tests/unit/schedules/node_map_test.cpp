// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/node_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "layouts.hpp"
#include "schedules/layout.hpp"

namespace tutti::schedules {
namespace {

/// The nodes counted in order of their lowest rank.
std::vector<int> counted(const std::vector<int>& node_of) {
  std::vector<int> names;
  std::vector<int> result;
  for (const int name : node_of) {
    const auto found = std::find(names.begin(), names.end(), name);
    result.push_back(static_cast<int>(found - names.begin()));
    if (found == names.end()) names.push_back(name);
  }
  return result;
}

TEST(NodeMap, TellsTheNodeOfEveryRankOfEveryLayout) {
  for (int size = 1; size <= 40; ++size)
    for (const NamedLayout& layout : layouts(size)) {
      if (layout.node_of.empty()) continue;
      const NodeMap map(layout.node_of);
      const std::vector<int> expected = counted(layout.node_of);
      ASSERT_EQ(map.size(), size);
      for (int rank = 0; rank < size; ++rank)
        ASSERT_EQ(map.node(rank), expected[static_cast<std::size_t>(rank)]) << layout.name << ", rank " << rank;
      EXPECT_EQ(map.nodes(), 1 + *std::max_element(expected.begin(), expected.end()));
    }
}

TEST(NodeMap, BlocksAreThoseOfAList) {
  for (const int size : {1, 7, 8, 64})
    for (const int per_node : {1, 3, 8, 100}) {
      const NodeMap blocks = NodeMap::blocks(size, per_node);
      const NodeMap listed(block_layout(size, per_node));
      EXPECT_EQ(blocks.nodes(), listed.nodes());
      EXPECT_EQ(blocks.most(), listed.most());
      EXPECT_EQ(blocks.least(), listed.least());
      EXPECT_EQ(blocks.is_adjacent(), listed.is_adjacent());
      for (int rank = 0; rank < size; ++rank) EXPECT_EQ(blocks.node(rank), listed.node(rank));
    }
}

TEST(NodeMap, WithoutRanksAllAreOnOneNode) {
  const NodeMap none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.nodes(), 1);
  EXPECT_EQ(none.node(7), 0);
}

/// The layout of a rank, by counting.
void expect_layout(const std::vector<int>& node_of, int rank, int root) {
  const NodeMap map(node_of);
  Problem p;
  p.rank = rank;
  p.size = static_cast<int>(node_of.size());
  p.root = root;
  p.node_of = &map;
  const Layout layout(p, Layout::Leaders::root);
  Ranks order;
  for (int node = 0; node < layout.nodes(); ++node) {
    Ranks members;
    for (int r = 0; r < p.size; ++r)
      if (map.node(r) == node) members.push_back(r);
    EXPECT_EQ(layout.first_of(node), order.size());
    ASSERT_EQ(layout.members(node).size(), members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      EXPECT_EQ(layout.members(node)[i], members[i]);
      EXPECT_EQ(layout.index_of(members[i]), static_cast<int>(i));
      EXPECT_EQ(layout.node_of(members[i]), node);
    }
    EXPECT_EQ(layout.leader(node), map.node(root) == node ? root : members.front());
    EXPECT_EQ(layout.last_members()[static_cast<std::size_t>(node)], members.back());
    EXPECT_EQ(layout.has_peers(), layout.index() < map.least());
    if (layout.has_peers()) {
      EXPECT_EQ(layout.peers()[static_cast<std::size_t>(node)], members[static_cast<std::size_t>(layout.index())]);
    }
    order.insert(order.end(), members.begin(), members.end());
  }
  EXPECT_EQ(Ranks(layout.order().begin(), layout.order().end()), order);
}

TEST(Layout, IsThatOfTheMapWithAndWithoutTables) {
  for (int size = 1; size <= 24; ++size)
    for (const NamedLayout& layout : layouts(size)) {
      if (layout.node_of.empty()) continue;
      for (const int rank : {0, size / 2, size - 1}) expect_layout(layout.node_of, rank, size - 1 - rank / 2);
    }
}

}  // namespace
}  // namespace tutti::schedules
