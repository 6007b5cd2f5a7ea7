// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/groups.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace tutti::detail::shm {
namespace {

/// A division of all ranks: each unit is named by its lowest rank, in ascending order.
using Units = std::vector<int>;
using Key = std::pair<int, int>;
using KeyOf = Key (*)(const Place&);

/// What the ranks of a group have in common, nearest first. A cache may span several NUMA domains, and a domain several
/// caches. Ranks that are not bound to one cache or domain share the key -1.
constexpr std::array<KeyOf, 4> keys = {
    [](const Place& place) {
      return Key{place.numa, place.l3};
    },
    [](const Place& place) {
      return place.l3 >= 0 ? Key{-1, place.l3} : Key{place.numa, -1};
    },
    [](const Place& place) {
      return Key{place.numa, -1};
    },
    [](const Place& /*place*/) {
      return Key{-1, -1};
    },
};

/// The size of the parts into which one level divides so many units: the same at all the levels that they need.
int part_size(int units, int fanout) {
  int levels = 1;
  for (long reach = fanout; reach < units; reach *= fanout) ++levels;
  for (int part = 2;; ++part) {
    long reach = 1;
    for (int i = 0; i < levels; ++i) reach *= part;
    if (reach >= units) return part;
  }
}

/// Divides the units evenly into as many groups as that level needs.
std::vector<Units> divide(const Units& units, int fanout) {
  const auto count = units.size();
  const auto part = static_cast<std::size_t>(part_size(static_cast<int>(count), fanout));
  const std::size_t groups = (count + part - 1) / part;
  std::vector<Units> divided;
  for (std::size_t i = 0; i < groups; ++i) {
    const auto begin = units.begin() + static_cast<std::ptrdiff_t>(i * count / groups);
    const auto end = units.begin() + static_cast<std::ptrdiff_t>((i + 1) * count / groups);
    divided.emplace_back(begin, end);
  }
  return divided;
}

/// The next level towards one unit for each key.
std::vector<Units> join(const Units& units, std::span<const Place> places, KeyOf key_of, int fanout) {
  std::map<Key, Units> alike;
  for (const int unit : units) alike[key_of(places[static_cast<std::size_t>(unit)])].push_back(unit);
  std::vector<Units> groups;
  for (const auto& [key, members] : alike)
    for (Units& part : divide(members, fanout)) groups.push_back(std::move(part));
  std::sort(groups.begin(), groups.end());
  return groups;
}

Units lowest_of(const std::vector<Units>& groups) {
  Units lowest;
  for (const Units& units : groups) lowest.push_back(units.front());
  return lowest;
}

/// The group of each rank, given the unit of each rank.
std::vector<int> groups_of_ranks(const std::vector<int>& unit_of, const std::vector<Units>& groups) {
  std::vector<int> group_of_unit(unit_of.size(), 0);
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const int unit : groups[g]) group_of_unit[static_cast<std::size_t>(unit)] = static_cast<int>(g);
  std::vector<int> group_of;
  group_of.reserve(unit_of.size());
  for (const int unit : unit_of) group_of.push_back(group_of_unit[static_cast<std::size_t>(unit)]);
  return group_of;
}

}  // namespace

Groups::Groups(std::span<const Place> places, int fanout) : size_(static_cast<int>(places.size())) {
  fanout = std::clamp(fanout, 2, most_fanout);
  Units units;
  for (int rank = 0; rank < size_; ++rank) units.push_back(rank);
  std::vector<int> unit_of = units;
  for (const KeyOf key_of : keys)
    for (;;) {
      const std::vector<Units> groups = join(units, places, key_of, fanout);
      if (groups.size() == units.size()) break;
      units = lowest_of(groups);
      levels_.push_back({groups, groups_of_ranks(unit_of, groups)});
      for (std::size_t rank = 0; rank < unit_of.size(); ++rank)
        unit_of[rank] = units[static_cast<std::size_t>(levels_.back().group_of[rank])];
    }
}

int Groups::leader(int level, int group, int root) const {
  return group_of(level, root) == group ? root : units_of(level, group).front();
}

TreePlace Groups::place_of(int rank, int root) const {
  TreePlace place;
  for (int index = 0; index < levels(); ++index) {
    const int group = group_of(index, rank);
    const int first = leader(index, group, root);
    if (first != rank) {
      place.parent = first;
      place.parent_level = index;
      break;
    }
    for (const int unit : units_of(index, group)) {
      const int other = leader_of_unit(index, unit, root);
      if (other != rank) place.children.push_back({other, index});
    }
  }
  return place;
}

TreePlaces Groups::places_of(int rank) const {
  TreePlaces places;
  places.levels = levels();
  for (int root = 0; root < size_; ++root) places.of_root.push_back(place_of(rank, root));
  return places;
}

Chain Groups::longest_chain() const {
  const auto length = [](const Chain& chain) { return chain.lines + chain.levels; };
  std::vector<Chain> below(static_cast<std::size_t>(size_));
  Chain longest;
  for (const GroupLevel& level : levels_)
    for (const auto& units : level.units) {
      longest = {};
      for (const int unit : units) {
        const Chain& chain = below[static_cast<std::size_t>(unit)];
        if (length(chain) > length(longest)) longest = chain;
      }
      if (units.size() > 1) longest = {longest.lines + static_cast<int>(units.size()) - 1, longest.levels + 1};
      below[static_cast<std::size_t>(units.front())] = longest;
    }
  return longest;
}

Groups unplaced_groups(int size, int fanout) {
  const std::vector<Place> places(static_cast<std::size_t>(size));
  return Groups(places, fanout);
}

}  // namespace tutti::detail::shm
