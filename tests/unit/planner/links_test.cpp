// SPDX-License-Identifier: BSD-3-Clause
#include "call/links.hpp"

#include <gtest/gtest.h>

#include "call/cost_model.hpp"

namespace tutti::detail {
namespace {

Link link_of(double latency) { return {latency, latency / 4, 1e9, 2e9, 3e9, 7, 8}; }

TEST(Links, TheNearestCommonObjectIsTheLevel) {
  // Node, local rank, NUMA domain, L3, core, cores allowed, socket.
  const Place place{0, 0, 1, 2, 3, 1, 0};
  const auto with = [place](auto member, int value) {
    Place other = place;
    other.*member = value;
    return other;
  };
  EXPECT_EQ(level_between(place, place), LinkLevel::core);
  Place other = with(&Place::core, 4);
  EXPECT_EQ(level_between(place, other), LinkLevel::cache);
  other.l3 = 5;
  EXPECT_EQ(level_between(place, other), LinkLevel::numa);
  other.numa = 0;
  EXPECT_EQ(level_between(place, other), LinkLevel::socket);
  other.socket = 1;
  EXPECT_EQ(level_between(place, other), LinkLevel::node);
  EXPECT_EQ(level_between(place, with(&Place::node, 1)), LinkLevel::network);
  // Ranks that are bound to nothing share nothing but the node.
  EXPECT_EQ(level_between(Place{}, Place{}), LinkLevel::node);
}

TEST(Links, MeasuredFiguresReplaceThoseOfMessagesAlone) {
  Links measured;
  measured[LinkLevel::network] = link_of(1e-6);
  const Links prior = links_of(typical_costs);
  const Links links = with_measured(prior, measured);
  EXPECT_EQ(links[LinkLevel::network].latency, 1e-6);
  EXPECT_EQ(links[LinkLevel::network].several_rate, 2e9);
  EXPECT_EQ(links[LinkLevel::network].combining_rate, prior[LinkLevel::network].combining_rate);
  EXPECT_EQ(links[LinkLevel::node], prior[LinkLevel::node]);
}

TEST(Links, LongMessagesHaveALatencyOfTheirOwn) {
  Links measured;
  measured[LinkLevel::network] = link_of(1e-6);
  EXPECT_EQ(with_measured({}, measured)[LinkLevel::network].eager, 0) << "a table of an earlier version";
  measured[LinkLevel::network].eager = 8192;
  measured[LinkLevel::network].long_latency = 3e-6;
  const Links links = with_measured(links_of(typical_costs), measured);
  EXPECT_EQ(links[LinkLevel::network].eager, 8192);
  EXPECT_EQ(links[LinkLevel::network].long_latency, 3e-6);
  EXPECT_EQ(links_of(typical_costs)[LinkLevel::network].eager, 0);
}

TEST(Links, ARankTakesSeveralMessagesAtARateOfItsOwn) {
  Links measured;
  measured[LinkLevel::network] = link_of(1e-6);
  const Link earlier = with_measured(links_of(typical_costs), measured)[LinkLevel::network];
  EXPECT_EQ(several_rate_of(earlier, false), earlier.several_rate) << "a table of an earlier version";
  measured[LinkLevel::network].one_way_rate = 3e9;
  const Link link = with_measured(links_of(typical_costs), measured)[LinkLevel::network];
  EXPECT_EQ(several_rate_of(link, false), 3e9);
  EXPECT_EQ(several_rate_of(link, true), link.several_rate);
}

TEST(Links, AMessagePassesOnAtARateOfItsOwn) {
  Links measured;
  measured[LinkLevel::network] = link_of(1e-6);
  const Link earlier = with_measured(links_of(typical_costs), measured)[LinkLevel::network];
  EXPECT_EQ(passing_rate_of(earlier), earlier.rate) << "a table of an earlier version";
  measured[LinkLevel::network].passing_rate = 3e9;
  EXPECT_EQ(passing_rate_of(with_measured(links_of(typical_costs), measured)[LinkLevel::network]), 3e9);
}

TEST(Links, ALevelThatWasNotMeasuredIsAsTheNextFartherOne) {
  Links measured;
  measured[LinkLevel::cache] = link_of(1e-7);
  measured[LinkLevel::socket] = link_of(3e-7);
  const Links links = with_measured(links_of(typical_costs), measured);
  EXPECT_EQ(links[LinkLevel::core].latency, 1e-7);
  EXPECT_EQ(links[LinkLevel::cache].latency, 1e-7);
  EXPECT_EQ(links[LinkLevel::numa].latency, 3e-7);
  EXPECT_EQ(links[LinkLevel::node].latency, 3e-7);
  EXPECT_EQ(links[LinkLevel::network], links_of(typical_costs)[LinkLevel::network]);
}

TEST(Links, OfTheNetworksFamilyWithoutMeasurements) {
  const Network fast{Network::Family::infiniband, 400};
  const Network slow{Network::Family::ethernet, 10};
  const Link of_fast = links_of(typical_costs, fast)[LinkLevel::network];
  const Link of_slow = links_of(typical_costs, slow)[LinkLevel::network];
  EXPECT_LT(of_fast.latency, of_slow.latency);
  EXPECT_GT(of_fast.rate, 10 * of_slow.rate);
  EXPECT_EQ(links_of(typical_costs, fast)[LinkLevel::node], links_of(typical_costs, slow)[LinkLevel::node]);
}

}  // namespace
}  // namespace tutti::detail
