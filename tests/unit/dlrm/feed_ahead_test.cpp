// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "setup.hpp"

namespace dlrm {
namespace {

tutti::Topology nodes(std::vector<int> ranks, std::vector<int> cores) {
  tutti::Topology topology;
  topology.nodes = static_cast<int>(ranks.size());
  topology.ranks_per_node = std::move(ranks);
  topology.cores_per_node = std::move(cores);
  return topology;
}

TEST(FeedAhead, NeedsACoreForEachThread) {
  const Options options;
  EXPECT_GT(feed_ahead(options, nodes({1}, {2})), 0U);
  EXPECT_GT(feed_ahead(options, nodes({4}, {8})), 0U);
  EXPECT_EQ(feed_ahead(options, nodes({1}, {1})), 0U);
  EXPECT_EQ(feed_ahead(options, nodes({2}, {2})), 0U);
  EXPECT_EQ(feed_ahead(options, nodes({4}, {7})), 0U);
  EXPECT_EQ(feed_ahead(options, nodes({3}, {2})), 0U);
}

TEST(FeedAhead, IsEqualOnAllNodes) {
  const Options options;
  EXPECT_GT(feed_ahead(options, nodes({2, 4}, {16, 16})), 0U);
  EXPECT_EQ(feed_ahead(options, nodes({2, 16}, {16, 16})), 0U);
}

TEST(FeedAhead, TheFlagDecides) {
  Options options;
  options.prefetch = 0;
  EXPECT_EQ(feed_ahead(options, nodes({1}, {16})), 0U);
  options.prefetch = 5;
  EXPECT_EQ(feed_ahead(options, nodes({2}, {2})), 5U);
}

}  // namespace
}  // namespace dlrm
