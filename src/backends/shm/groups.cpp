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
constexpr std::size_t cache_keys = 2;  ///< those within one cache
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

/// Divides `count` units evenly into as many groups as that level needs: group i begins with unit begin(i).
class Division {
 public:
  Division(std::size_t count, int fanout) : count_(count) {
    const auto part = static_cast<std::size_t>(part_size(static_cast<int>(count), fanout));
    groups_ = (count + part - 1) / part;
  }
  [[nodiscard]] std::size_t groups() const { return groups_; }
  [[nodiscard]] std::size_t begin(std::size_t group) const { return group * count_ / groups_; }

 private:
  std::size_t count_;
  std::size_t groups_;
};

std::vector<Units> divide(const Units& units, int fanout) {
  const Division division(units.size(), fanout);
  std::vector<Units> divided;
  for (std::size_t i = 0; i < division.groups(); ++i)
    divided.emplace_back(units.begin() + static_cast<std::ptrdiff_t>(division.begin(i)),
                         units.begin() + static_cast<std::ptrdiff_t>(division.begin(i + 1)));
  return divided;
}

/// The longest chain through a group of units with these chains below.
Chain chain_over(std::size_t units, const Chain& below) {
  return units > 1 ? Chain{below.lines + static_cast<int>(units) - 1, below.levels + 1} : below;
}

bool is_longer(const Chain& a, const Chain& b) { return a.lines + a.levels > b.lines + b.levels; }

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

Groups::Groups(std::span<const Place> places, int fanout, int between_caches) : size_(static_cast<int>(places.size())) {
  const std::array<int, 2> most{std::clamp(fanout, 2, most_fanout),
                                std::clamp(between_caches == 0 ? fanout : between_caches, 2, most_fanout)};
  Units units;
  for (int rank = 0; rank < size_; ++rank) units.push_back(rank);
  std::vector<int> unit_of = units;
  for (std::size_t key = 0; key < keys.size(); ++key)
    for (;;) {
      const std::vector<Units> groups = join(units, places, keys[key], most[key < cache_keys ? 0 : 1]);
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

std::vector<int> Groups::members_of_unit(int level, int rank) const {
  if (level == 0) return {rank};
  std::vector<int> members;
  for (int other = 0; other < size_; ++other)
    if (group_of(level - 1, other) == group_of(level - 1, rank)) members.push_back(other);
  return members;
}

Partners Groups::partners_of(int rank, int level) const {
  const std::vector<int> own = members_of_unit(level, rank);
  const auto place = static_cast<std::size_t>(std::find(own.begin(), own.end(), rank) - own.begin());
  Partners partners;
  for (const int unit : units_of(level, group_of(level, rank))) {
    const std::vector<int> members = members_of_unit(level, unit);
    if (members == own) partners.own = partners.ranks.size();
    partners.ranks.push_back(members[place % members.size()]);
  }
  return partners;
}

std::vector<Partners> Groups::partners_of(int rank) const {
  std::vector<Partners> partners;
  for (int level = 0; level < levels(); ++level) partners.push_back(partners_of(rank, level));
  return partners;
}

TreePlaces places_of(int rank, const Groups& tree, const Groups& exchange) {
  TreePlaces places{{}, exchange.partners_of(rank), tree.levels()};
  for (int root = 0; root < tree.size(); ++root) places.of_root.push_back(tree.place_of(rank, root));
  return places;
}

Chain Groups::longest_chain() const {
  std::vector<Chain> below(static_cast<std::size_t>(size_));
  Chain longest;
  for (const GroupLevel& level : levels_)
    for (const auto& units : level.units) {
      longest = {};
      for (const int unit : units) {
        const Chain& chain = below[static_cast<std::size_t>(unit)];
        if (is_longer(chain, longest)) longest = chain;
      }
      longest = chain_over(units.size(), longest);
      below[static_cast<std::size_t>(units.front())] = longest;
    }
  return longest;
}

int Groups::most_readers() const {
  int most = 1;
  for (int index = 1; index < levels(); ++index) {
    std::map<int, int> sizes;  // of the units
    for (const int unit : level(index - 1).group_of) ++sizes[unit];
    for (const Units& units : level(index).units) {
      int smallest = size_;
      int largest = 0;
      for (const int unit : units) {
        const int size = sizes[group_of(index - 1, unit)];
        smallest = std::min(smallest, size);
        largest = std::max(largest, size);
      }
      most = std::max(most, (largest + smallest - 1) / smallest);
    }
  }
  return most;
}

Groups exchange_groups(std::span<const Place> places) {
  constexpr int most_readers = 2;
  Groups groups(places, most_in_exchange, most_between_caches);
  return groups.most_readers() <= most_readers ? groups : Groups();
}

Groups unplaced_groups(int size, int fanout) {
  const std::vector<Place> places(static_cast<std::size_t>(size));
  return Groups(places, fanout);
}

Chain unplaced_chain(int size, int fanout) {
  std::vector<Chain> units(static_cast<std::size_t>(size));
  while (units.size() > 1) {
    const Division division(units.size(), fanout);
    for (std::size_t i = 0; i < division.groups(); ++i) {
      const std::size_t begin = division.begin(i);
      const std::size_t end = division.begin(i + 1);
      Chain longest;
      for (std::size_t unit = begin; unit < end; ++unit)
        if (is_longer(units[unit], longest)) longest = units[unit];
      units[i] = chain_over(end - begin, longest);
    }
    units.resize(division.groups());
  }
  return units.empty() ? Chain{} : units.front();
}

}  // namespace tutti::detail::shm
