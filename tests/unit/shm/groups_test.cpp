// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

#include "places.hpp"

namespace tutti::test {
namespace {

using detail::shm::Chain;
using detail::shm::exchange_groups;
using detail::shm::Groups;
using detail::shm::most_fanout;
using detail::shm::Partners;
using detail::shm::TreePlace;
using detail::shm::unplaced_chain;
using detail::shm::unplaced_groups;

std::vector<TreePlace> places_in_tree(const Groups& groups, int root) {
  std::vector<TreePlace> all;
  for (int rank = 0; rank < groups.size(); ++rank) all.push_back(groups.place_of(rank, root));
  return all;
}

/// The ranks whose contributions reach a rank, each as often as it does.
std::vector<int> gathered(const std::vector<TreePlace>& all, int rank) {
  std::vector<int> ranks{rank};
  for (const auto& child : all[static_cast<std::size_t>(rank)].children) {
    const std::vector<int> below = gathered(all, child.rank);
    ranks.insert(ranks.end(), below.begin(), below.end());
    EXPECT_LE(ranks.size(), all.size());
    if (ranks.size() > all.size()) break;
  }
  return ranks;
}

void expect_tree(const Groups& groups, int root, int fanout) {
  const std::vector<TreePlace> all = places_in_tree(groups, root);
  std::vector<int> ranks = gathered(all, root);
  std::sort(ranks.begin(), ranks.end());
  std::vector<int> expected;
  for (int rank = 0; rank < groups.size(); ++rank) expected.push_back(rank);
  EXPECT_EQ(ranks, expected) << "each contribution reaches the root " << root << " once";
  for (int rank = 0; rank < groups.size(); ++rank) {
    const TreePlace& place = all[static_cast<std::size_t>(rank)];
    EXPECT_EQ(place.parent < 0, rank == root);
    std::map<int, int> of_level;
    for (std::size_t i = 0; i < place.children.size(); ++i) {
      const auto& child = place.children[i];
      const TreePlace& seen = all[static_cast<std::size_t>(child.rank)];
      EXPECT_EQ(seen.parent, rank);
      EXPECT_EQ(seen.parent_level, child.level) << "both ends look at the same line";
      EXPECT_LT(++of_level[child.level], fanout);
      if (i > 0) {
        EXPECT_LE(place.children[i - 1].level, child.level);
      }
    }
    if (place.parent >= 0 && !place.children.empty()) {
      EXPECT_LT(place.children.back().level, place.parent_level);
    }
  }
}

/// What a rank has combined: each contribution as often as it has it, and the way in which they were combined.
struct Combined {
  std::map<int, int> times{};
  std::string order{};
};

void expect_exchange(const Groups& groups) {
  std::vector<Combined> all;
  for (int rank = 0; rank < groups.size(); ++rank) all.push_back({{{rank, 1}}, std::to_string(rank)});
  for (int level = 0; level < groups.levels(); ++level) {
    std::vector<Combined> next(all.size());
    for (int rank = 0; rank < groups.size(); ++rank) {
      const Partners partners = groups.partners_of(rank, level);
      EXPECT_EQ(partners.ranks.at(partners.own), rank);
      EXPECT_LE(partners.ranks.size(), static_cast<std::size_t>(most_fanout));
      Combined& own = next[static_cast<std::size_t>(rank)];
      for (const int partner : partners.ranks) {
        const Combined& other = all[static_cast<std::size_t>(partner)];
        for (const auto& [from, times] : other.times) own.times[from] += times;
        own.order += "(" + other.order + ")";
      }
      own.order = std::to_string(std::hash<std::string>{}(own.order));
    }
    all = std::move(next);
  }
  for (const Combined& one : all) {
    EXPECT_EQ(one.times.size(), all.size()) << "every contribution comes";
    for (const auto& [from, times] : one.times) EXPECT_EQ(times, 1) << "that of rank " << from;
    if (groups.levels() > 0) {
      EXPECT_EQ(one.order, all.front().order) << "all ranks combine alike";
    }
  }
}

void expect_trees(const std::vector<Place>& places) {
  for (const int fanout : {2, 3, most_fanout}) {
    const Groups groups(places, fanout);
    const int size = groups.size();
    expect_exchange(groups);
    for (const int root : std::set<int>{0, 1 % size, size / 2, size - 1}) expect_tree(groups, root, fanout);
  }
}

TEST(Groups, EveryNumberOfUnboundRanksIsATree) {
  for (int size = 1; size <= 256; ++size) expect_trees(std::vector<Place>(static_cast<std::size_t>(size)));
}

TEST(Groups, EveryRootIsOnTop) {
  const Groups groups(bound_places(2, 3, 5));
  for (int root = 0; root < groups.size(); ++root) {
    expect_tree(groups, root, most_fanout);
    for (int level = 0; level < groups.levels(); ++level) {
      const int group = groups.level(level).group_of[static_cast<std::size_t>(root)];
      EXPECT_EQ(groups.leader(level, group, root), root);
    }
  }
}

TEST(Groups, AnySubsetInAnyOrderIsATree) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<Place> places = bound_places(1 + trial % 8, 1 + trial % 3, 1 + trial % 11);
    for (Place& place : places) {
      if (random() % 5 == 0) place.l3 = -1;
      if (place.l3 < 0 && random() % 2 == 0) place.numa = -1;
    }
    std::shuffle(places.begin(), places.end(), random);
    places.resize(1 + random() % places.size());
    expect_trees(places);
  }
}

/// The children of a rank at one level, or all if the level is -1.
std::size_t children_at(const TreePlace& place, int level) {
  return static_cast<std::size_t>(
      std::count_if(place.children.begin(), place.children.end(), [&](const auto& c) { return c.level == level; }));
}

TEST(Groups, FollowCachesThenDomains) {
  for (const auto& places : {bound_places(2, 3, 4), dealt_places(2, 3, 4)}) {
    const Groups groups(places);
    ASSERT_EQ(groups.levels(), 3);
    const TreePlace top = groups.place_of(0, 0);
    EXPECT_EQ(children_at(top, 0), 3U) << "the cache";
    EXPECT_EQ(children_at(top, 1), 2U) << "the leaders of the domain's other caches";
    EXPECT_EQ(children_at(top, 2), 1U) << "the leader of the other domain";
    const auto place = [&](int rank) { return places[static_cast<std::size_t>(rank)]; };
    for (const auto& child : top.children) {
      EXPECT_EQ(child.level == 0, place(child.rank).l3 == place(0).l3);
      EXPECT_EQ(child.level <= 1, place(child.rank).numa == place(0).numa);
    }
  }
}

TEST(Groups, ACacheOfSeveralDomainsIsOneGroupOfThem) {
  std::vector<Place> places;
  for (int rank = 0; rank < 16; ++rank) places.push_back({0, rank, rank / 4, rank / 8, rank, 1});
  const Groups groups(places);
  ASSERT_EQ(groups.levels(), 3);
  EXPECT_EQ(groups.level(0).units.size(), 4U) << "the domains";
  EXPECT_EQ(groups.level(1).units.size(), 2U) << "the caches";
}

TEST(Groups, OneRankOfADomainDoesNotWaitForALevel) {
  const Groups groups(bound_places(8, 1, 1));
  EXPECT_EQ(groups.levels(), 1);
  EXPECT_EQ(groups.place_of(0, 0).children.size(), 7U);
}

TEST(Groups, OneRankIsAloneAndNobodysChild) {
  const Groups groups = unplaced_groups(1);
  EXPECT_EQ(groups.levels(), 0);
  EXPECT_EQ(groups.place_of(0, 0).parent, -1);
  EXPECT_TRUE(groups.place_of(0, 0).children.empty());
  EXPECT_EQ(groups.longest_chain().lines, 0);
}

TEST(Groups, AWideCacheIsDividedEvenly) {
  const Groups groups(bound_places(1, 1, 64));
  EXPECT_EQ(groups.levels(), 2);
  EXPECT_EQ(groups.longest_chain().lines, 14);
  for (const auto& units : groups.level(0).units) EXPECT_EQ(units.size(), 8U);
}

TEST(Groups, RanksThatFillSocketsUnevenlyDoNotExchange) {
  std::vector<Place> places = bound_places(2, 12, 8);
  EXPECT_EQ(exchange_groups(places).most_readers(), 2) << "caches of 8 have groups of 3, 3 and 2";
  EXPECT_GT(exchange_groups(places).levels(), 0);
  places.resize(104);
  EXPECT_EQ(exchange_groups(places).levels(), 0) << "12 ranks would read each line of the second socket";
}

TEST(Groups, TheChainOfUnplacedRanksIsThatOfTheirGroups) {
  for (int size = 1; size <= 600; ++size) {
    const Chain expected = unplaced_groups(size).longest_chain();
    EXPECT_EQ(unplaced_chain(size).lines, expected.lines) << size;
    EXPECT_EQ(unplaced_chain(size).levels, expected.levels) << size;
  }
}

}  // namespace
}  // namespace tutti::test
