// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <tutti/topology.hpp>
#include <vector>

/// The division of a node's ranks into groups, level by level, along which the protocol `tree` passes data. All
/// functions here follow from the places of the ranks alone, so every rank computes the same groups.
namespace tutti::detail::shm {

/// The most units of a group, so that a leader polls one line less than that at each level.
inline constexpr int most_fanout = 8;

/// The most units where all ranks of a group exchange their lines (tree_exchange.hpp): each is read by all others, and
/// whoever looks at a line too early makes its writer take it back, which takes longer between caches.
inline constexpr int most_in_exchange = 4;
inline constexpr int most_between_caches = 3;

/// One level: its groups join units, which are ranks at the first level and groups of the level below at all others.
struct GroupLevel {
  std::vector<std::vector<int>> units;  ///< the units of each group, each named by its lowest rank, in ascending order
  std::vector<int> group_of;            ///< the group of each rank
};

/// The position of one rank in the tree of a call.
struct TreePlace {
  struct Child {
    int rank = 0;
    int level = 0;
  };
  int parent = -1;              ///< -1: this rank is the root
  int parent_level = 0;         ///< the level of the group whose leader is the parent
  std::vector<Child> children;  ///< the other leaders of this rank's groups, from the first level up, in rank order
};

/// The ranks that one rank reads at one level if all ranks exchange: one of each unit of its group, in ascending order
/// of the units, and itself.
struct Partners {
  std::vector<int> ranks{};
  std::size_t own = 0;  ///< the place of this rank among them
};

/// The positions of one rank in the trees of all roots, and its partners, level by level.
struct TreePlaces {
  std::vector<TreePlace> of_root{};
  std::vector<Partners> partners{};
  int levels = 0;
};

/// The longest chain of lines that wait for one another, from a rank to the root or back.
struct Chain {
  int lines = 0;   ///< lines that a leader polls, or readers that a line has, added up over the chain
  int levels = 0;  ///< groups on the chain
};

/// Ranks that share a last-level cache form groups, the leaders of those form groups by NUMA domain, and the leaders of
/// the domains form the group of the node. A group of more units than the fan-out is divided into several levels.
class Groups {
 public:
  Groups() = default;
  /// places: one per rank. The ranks are on one node. fanout: from 2 to most_fanout; between_caches: at the levels
  /// above the last-level caches; 0: the same.
  explicit Groups(std::span<const Place> places, int fanout = most_fanout, int between_caches = 0);

  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int levels() const { return static_cast<int>(levels_.size()); }
  [[nodiscard]] const GroupLevel& level(int index) const { return levels_[static_cast<std::size_t>(index)]; }

  /// The rank that leads a group. The root leads all its groups, so that its data need no further way; any other group
  /// is led by its lowest rank.
  [[nodiscard]] int leader(int level, int group, int root) const;
  [[nodiscard]] TreePlace place_of(int rank, int root) const;
  /// The k-th rank of a unit reads the k-th of each other one, or begins again where that has fewer.
  [[nodiscard]] Partners partners_of(int rank, int level) const;
  [[nodiscard]] std::vector<Partners> partners_of(int rank) const;
  /// The most ranks of one unit that read the same rank of another one.
  [[nodiscard]] int most_readers() const;
  [[nodiscard]] Chain longest_chain() const;

 private:
  [[nodiscard]] int group_of(int level, int rank) const {
    return this->level(level).group_of[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] const std::vector<int>& units_of(int level, int group) const {
    return this->level(level).units[static_cast<std::size_t>(group)];
  }
  /// The leader of a unit of a level, which is named by its lowest rank.
  [[nodiscard]] int leader_of_unit(int level, int unit, int root) const {
    return level == 0 ? unit : leader(level - 1, group_of(level - 1, unit), root);
  }

  /// All ranks of the unit of a level that a rank belongs to, in ascending order.
  [[nodiscard]] std::vector<int> members_of_unit(int level, int rank) const;

  int size_ = 0;
  std::vector<GroupLevel> levels_;
};

/// Those along which all ranks exchange; none if units of one level differ so much in size that many ranks would wait
/// for one another at each line of a small one.
[[nodiscard]] Groups exchange_groups(std::span<const Place> places);

/// The places of a rank in the trees of some groups, and its partners in an exchange along others.
[[nodiscard]] TreePlaces places_of(int rank, const Groups& tree, const Groups& exchange);

/// The groups of ranks whose places are unknown.
[[nodiscard]] Groups unplaced_groups(int size, int fanout = most_fanout);
/// Their longest chain, without the groups.
[[nodiscard]] Chain unplaced_chain(int size, int fanout = most_fanout);

}  // namespace tutti::detail::shm
