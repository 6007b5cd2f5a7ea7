// SPDX-License-Identifier: BSD-3-Clause
// Communicators whose ranks count as placed on a machine of another shape than the one that runs the test.
#pragma once

#include <tutti/topology.hpp>
#include <vector>

#include "backends/shm/arena.hpp"

namespace tutti::test {

/// Gives the ranks of a communicator other groups for the protocol `tree`, until this object ends.
class Grouped {
 public:
  Grouped(const Communicator& comm, const detail::shm::Groups& groups) : comm_(comm) { use(groups); }
  ~Grouped() { use(detail::shm::Groups(comm_.topology().places)); }
  Grouped(const Grouped&) = delete;
  Grouped& operator=(const Grouped&) = delete;

 private:
  void use(const detail::shm::Groups& groups) { detail::shm::arena_of(*comm_.state()).use_groups(groups); }
  const Communicator& comm_;
};

/// Groups of that many ranks: chains of two, three to a group, caches whose domains are dealt out in turn, a rank that
/// leads others without a group of its own cache, and one wide cache.
inline std::vector<detail::shm::Groups> groups_to_try(int size) {
  std::vector<Place> dealt;
  for (int rank = 0; rank < size; ++rank) dealt.push_back({0, rank, rank % 2, rank % 4, -1, 1});
  dealt.back().l3 = -1;
  std::vector<Place> apart;
  for (int rank = 0; rank < size; ++rank) apart.push_back({0, rank, rank == 0 ? 0 : 1, -1, -1, 1});
  return {detail::shm::unplaced_groups(size, 2), detail::shm::unplaced_groups(size, 3), detail::shm::Groups(dealt),
          detail::shm::Groups(apart), detail::shm::unplaced_groups(size)};
}

}  // namespace tutti::test
