// SPDX-License-Identifier: BSD-3-Clause
#include "tools/link_measurement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "tools/tune_links.hpp"

namespace tutti::tools {
namespace {

using detail::LinkLevel;

/// Nodes of two sockets, each of two caches, each of two cores.
std::vector<Place> places_of(int nodes) {
  std::vector<Place> places;
  for (int rank = 0; rank < 8 * nodes; ++rank) {
    Place place;
    place.node = rank / 8;
    place.socket = place.numa = rank % 8 / 4;
    place.l3 = rank % 8 / 2;
    place.core = rank % 8;
    places.push_back(place);
  }
  return places;
}

TEST(LinkMeasurement, PairsAreAtTheirLevelAndNoRankIsInTwo) {
  const std::vector<Place> places = places_of(3);
  for (const LinkLevel level : {LinkLevel::cache, LinkLevel::numa, LinkLevel::node, LinkLevel::network}) {
    const Pairs pairs = pairs_at(level, places);
    EXPECT_EQ(pairs.size(), level == LinkLevel::network ? 8U : 4U);
    std::set<int> seen;
    for (const auto& [a, b] : pairs) {
      EXPECT_EQ(detail::level_between(places[static_cast<std::size_t>(a)], places[static_cast<std::size_t>(b)]), level);
      EXPECT_TRUE(seen.insert(a).second && seen.insert(b).second);
    }
  }
  EXPECT_TRUE(pairs_at(LinkLevel::core, places).empty());
  EXPECT_TRUE(pairs_at(LinkLevel::socket, places).empty());
}

TEST(LinkMeasurement, OneNodeHasNoNetwork) {
  EXPECT_TRUE(pairs_at(LinkLevel::network, places_of(1)).empty());
  EXPECT_TRUE(pairs_at(LinkLevel::network, {}).empty());
  // Rank 0 and the last rank on one node, and another node between them.
  std::vector<Place> places(3);
  places[1].node = 1;
  EXPECT_EQ(pairs_at(LinkLevel::network, places).size(), 1U);
}

TEST(LinkMeasurement, PartnersWithinALevelHaveEachOther) {
  const std::vector<Place> places = places_of(2);
  for (const auto& [level, most, number] : {std::tuple{LinkLevel::cache, 8, 1}, std::tuple{LinkLevel::numa, 8, 3},
                                            std::tuple{LinkLevel::node, 8, 7}, std::tuple{LinkLevel::node, 4, 4}}) {
    for (int rank = 0; rank < 16; ++rank) {
      const std::vector<int> partners = partners_within(level, rank, places, static_cast<std::size_t>(most));
      EXPECT_EQ(std::set<int>(partners.begin(), partners.end()).size(), static_cast<std::size_t>(number));
      for (const int partner : partners) {
        EXPECT_EQ(places[static_cast<std::size_t>(partner)].node, places[static_cast<std::size_t>(rank)].node);
        const std::vector<int> back = partners_within(level, partner, places, static_cast<std::size_t>(most));
        EXPECT_EQ(std::count(back.begin(), back.end(), rank), 1) << rank << ' ' << partner;
      }
    }
  }
  EXPECT_TRUE(partners_within(LinkLevel::node, 0, std::vector<Place>(1), 8).empty());
}

TEST(LinkMeasurement, TheTextHasARowForEachLevel) {
  const std::vector<LinkMeasurement> measured = {
      {LinkLevel::cache,
       {.latency = 2e-7,
        .overhead = 5e-8,
        .rate = 1e10,
        .several_rate = 2e10,
        .shared_rate = 4e10,
        .one_way_rate = 3e10},
       {{1, 1e10}, {2, 5e9}}},
      {LinkLevel::network, {.latency = 1e-6, .rate = 1e9, .passing_rate = 1.75e9}, {{1, 1e9}}}};
  const std::string text = links_text(measured);
  for (const char* word : {"cache", "network", "0.20", "40.00", "30.00", "1.75", "2: 5.00"})
    EXPECT_NE(text.find(word), std::string::npos) << text;
  const detail::Links links = links_of(measured);
  EXPECT_TRUE(is_measured(links[LinkLevel::cache]) && is_measured(links[LinkLevel::network]));
  EXPECT_FALSE(is_measured(links[LinkLevel::node]));
}

}  // namespace
}  // namespace tutti::tools
