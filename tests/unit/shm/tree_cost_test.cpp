// SPDX-License-Identifier: BSD-3-Clause
// The lines that a barrier and a short allreduce move between cores on machines of three shapes, by the protocol `tree`
// and by the schemes of other libraries, all counted alike: a rank that reads a line which another has written counts
// one, and a line of k readers counts k on the way of the last of them.
#include "backends/shm/tree_cost.hpp"
#include "backends/shm/model.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "example.hpp"
#include "places.hpp"
#include "rows.hpp"

namespace tutti::test {
namespace {

using namespace detail::shm;

/// A node of one of the schemes: the ranks of each domain of each socket.
struct Hardware {
  const char* name;
  std::vector<Place> places;
  int sockets;
  int domains;
};

std::vector<Hardware> machines() {
  return {{"one cache of 64 cores", bound_places(1, 1, 64), 1, 1},
          {"2 sockets of 12 caches of 8 cores", bound_places(2, 12, 8), 2, 2},
          {"2 sockets of 4 domains of 16 cores", bound_places(8, 1, 16), 2, 8}};
}

/// Lines on the longest way up and down again.
struct Ways {
  int up;
  int down;
  [[nodiscard]] int both() const { return up + down; }
};

Ways by_flat_exchange(const Hardware& hardware) { return {static_cast<int>(hardware.places.size()) - 1, 0}; }

Ways by_tree(const Hardware& hardware) { return {exchange_groups(hardware.places).longest_chain().lines, 0}; }

/// XHC of Open MPI: groups of the ranks of a NUMA domain, of a socket's leaders and of the node's, each of any width; a
/// leader polls a line of each member, and the members wait for one line of the leader (ompi/mca/coll/xhc,
/// coll_xhc_barrier.c; the hierarchy "numa,socket" is the default of coll_xhc_component.c).
Ways by_xhc(const Hardware& hardware) {
  const int in_domain = static_cast<int>(hardware.places.size()) / hardware.domains;
  const int in_socket = hardware.domains / hardware.sockets;
  const int lines = in_domain - 1 + in_socket - 1 + hardware.sockets - 1;
  return {lines, lines};
}

/// The children on the longest way of a k-ary tree in rank order: those of rank r are k * r + 1 … k * r + k.
int lines_of_kary(int size, int k) {
  int longest = 0;
  for (int rank = size - 1; rank > 0; --rank) {
    int lines = 0;
    for (int at = rank; at > 0; at = (at - 1) / k) {
      const int parent = (at - 1) / k;
      lines += std::min(size - 1, k * parent + k) - k * parent;
    }
    longest = std::max(longest, lines);
  }
  return longest;
}

/// MPICH's release_gather: flags go up a tree of radix 4 and down a tree of radix 64, its defaults
/// (src/mpid/ch4/shm/posix/release_gather, MPIR_CVAR_REDUCE_INTRANODE_TREE_KVAL and _BCAST_INTRANODE_TREE_KVAL).
Ways by_release_gather(const Hardware& hardware) {
  const int size = static_cast<int>(hardware.places.size());
  return {lines_of_kary(size, 4), lines_of_kary(size, 64)};
}

/// A short allreduce there: the data have lines of their own, and all ranks copy the result from that of rank 0.
Ways with_data_by_release_gather(const Hardware& hardware) {
  const Ways flags = by_release_gather(hardware);
  return {2 * flags.up, flags.down + static_cast<int>(hardware.places.size()) - 1};
}

TEST(TreeCost, LinesOfABarrierOnThreeMachines) {
  const int expected[][4] = {{63, 9, 126, 75}, {191, 9, 192, 144}, {127, 10, 38, 143}};
  std::size_t i = 0;
  for (const Hardware& hardware : machines()) {
    SCOPED_TRACE(hardware.name);
    const int* row = expected[i++];
    EXPECT_EQ(by_flat_exchange(hardware).both(), row[0]);
    EXPECT_EQ(by_tree(hardware).both(), row[1]);
    EXPECT_EQ(by_xhc(hardware).both(), row[2]);
    EXPECT_EQ(by_release_gather(hardware).both(), row[3]);
    EXPECT_GT(with_data_by_release_gather(hardware).both(), row[3]);
  }
}

/// The chain is that of the places in the tree, whichever rank is the root.
TEST(TreeCost, TheChainIsThatOfTheTree) {
  for (const Hardware& hardware : machines()) {
    const Groups groups(hardware.places);
    const int size = groups.size();
    for (const int root : {0, size / 3, size - 1}) {
      int longest = 0;
      int lines_read = 0;
      for (int rank = 0; rank < size; ++rank) {
        int lines = 0;
        TreePlace place = groups.place_of(rank, root);
        lines_read += static_cast<int>(place.children.size());
        while (place.parent >= 0) {
          const int level = place.parent_level;
          place = groups.place_of(place.parent, root);
          lines += static_cast<int>(std::count_if(place.children.begin(), place.children.end(),
                                                  [level](const auto& child) { return child.level == level; }));
        }
        longest = std::max(longest, lines);
      }
      EXPECT_EQ(longest, groups.longest_chain().lines) << hardware.name << ", root " << root;
      EXPECT_EQ(lines_read, size - 1) << "each rank's line is read once on the way up";
    }
  }
}

detail::Machine machine_of(int size, bool oversubscribed) {
  detail::Machine machine;
  machine.size = size;
  machine.oversubscribed = oversubscribed;
  return machine;
}

using Places = std::vector<Place>;

double tree_of(const Signature& signature, const Places& places, bool oversubscribed) {
  return predict_tree(signature, shape_of(places), machine_of(static_cast<int>(places.size()), oversubscribed));
}

/// Whether the tree is chosen rather than an exchange of lines.
bool is_chosen(const Signature& signature, const Places& places, bool oversubscribed) {
  return is_worth_a_tree(shape_of(places)) &&
         tree_of(signature, places, oversubscribed) <
             predict(Protocol::line, signature, machine_of(static_cast<int>(places.size()), oversubscribed));
}

TEST(TreeCost, FewRanksExchangeTheirLinesDirectly) {
  for (const Operation operation : {Operation::barrier, Operation::bcast, Operation::reduce, Operation::allreduce})
    for (int size = 2; size <= 8; ++size)
      for (const auto& places : {std::vector<Place>(static_cast<std::size_t>(size)), bound_places(size, 1, 1)})
        EXPECT_FALSE(is_chosen(signature_of(operation, 1), places, false)) << size;
  for (const Operation operation : {Operation::barrier, Operation::bcast, Operation::reduce, Operation::allreduce})
    EXPECT_FALSE(is_chosen(signature_of(operation, 1), bound_places(2, 1, 2), false)) << "2 sockets of 2 ranks";
}

TEST(TreeCost, ManyRanksUseTheTreeUnlessTheyShareCores) {
  for (const Operation operation : {Operation::barrier, Operation::bcast, Operation::reduce, Operation::allreduce})
    for (int size = 32; size <= 256; ++size) {
      const Places places(static_cast<std::size_t>(size));
      EXPECT_TRUE(is_chosen(signature_of(operation, 1), places, false)) << size;
      EXPECT_FALSE(is_chosen(signature_of(operation, 1), places, true)) << size;
    }
}

TEST(TreeCost, ThereAndBackTakesTwiceAsLongUnlessAllExchange) {
  const TreeShape shape = unplaced_shape(64);
  const LineCosts costs{1e-7, 1e-8, 1e-6};
  const double up = tree_seconds(signature_of(Operation::reduce, 64), shape, costs);
  EXPECT_DOUBLE_EQ(tree_seconds(signature_of(Operation::bcast, 64), shape, costs), up);
  EXPECT_LT(tree_seconds(signature_of(Operation::allreduce, 8), shape, costs),
            2 * tree_seconds(signature_of(Operation::reduce, 8), shape, costs));
  const TreeShape high = unplaced_shape(256);
  ASSERT_FALSE(is_exchanged(signature_of(Operation::allreduce, 512), high.exchange.levels))
      << "the cell has too few lines";
  EXPECT_DOUBLE_EQ(tree_seconds(signature_of(Operation::allreduce, 512), high, costs),
                   2 * tree_seconds(signature_of(Operation::reduce, 512), high, costs));
}

TEST(TreeCost, GrowsWithTheDataAndTheRanks) {
  for (const Operation operation : {Operation::bcast, Operation::reduce, Operation::allreduce}) {
    const Places few(64);
    const Places many(256);
    EXPECT_LT(tree_of(signature_of(operation, 1), few, false), tree_of(signature_of(operation, 512), few, false));
    EXPECT_LT(tree_of(signature_of(operation, 1), few, false), tree_of(signature_of(operation, 1), many, false));
    EXPECT_LT(tree_of(signature_of(operation, 1), few, false), tree_of(signature_of(operation, 1), few, true));
  }
}

}  // namespace
}  // namespace tutti::test
