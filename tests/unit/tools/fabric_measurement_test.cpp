// SPDX-License-Identifier: BSD-3-Clause
#include "tools/link_measurement.hpp"

#include <gtest/gtest.h>

#include "tools/tune_links.hpp"

namespace tutti::tools {
namespace {

std::vector<Place> places_of(const std::vector<int>& nodes) {
  std::vector<Place> places(nodes.size());
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) places[rank].node = nodes[rank];
  return places;
}

TEST(FabricMeasurement, PairsAreOfNodesAtTheirDistance) {
  const NodeRanks nodes = ranks_by_node(places_of({0, 0, 1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(pairs_apart(0, nodes), (Pairs{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(pairs_apart(1, nodes), (Pairs{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(pairs_apart(2, nodes), (Pairs{{0, 8}, {1, 9}}));
  EXPECT_TRUE(pairs_apart(3, nodes).empty());
}

TEST(FabricMeasurement, TakesAsManyRanksOfANodeAsTheSmallestHas) {
  // Dealt out in turn, and one node has a rank less.
  const NodeRanks nodes = ranks_by_node(places_of({0, 1, 2, 0, 1}));
  EXPECT_EQ(nodes, (NodeRanks{{0, 3}, {1, 4}, {2}}));
  EXPECT_EQ(pairs_apart(0, nodes), (Pairs{{0, 1}}));
  EXPECT_EQ(pairs_apart(1, nodes), (Pairs{{0, 2}}));
}

TEST(FabricMeasurement, TheTextHasARowForEachDistance) {
  EXPECT_EQ(fabric_text({}), "");
  detail::Fabric fabric;
  fabric.at = {{{1e-6, 8e9}, {2e-6, 4e9}}};
  fabric.everywhere = 6e9;
  const std::string text = fabric_text(fabric);
  for (const char* word : {"nodes apart", "1.00", "8.00", "2.00", "4.00", "all", "6.00"})
    EXPECT_NE(text.find(word), std::string::npos) << text;
}

}  // namespace
}  // namespace tutti::tools
