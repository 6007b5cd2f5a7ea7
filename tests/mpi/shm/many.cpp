// SPDX-License-Identifier: BSD-3-Clause
// Far more ranks than cores: short calls by the planner's choice and by `tree`, which need every rank to give its turn
// to others.
#include <gtest/gtest.h>

#include <tutti/tutti.hpp>

#include "mpi/shm/grouped.hpp"
#include "support/world.hpp"

namespace tutti::test {
namespace {

void make_short_calls(const Communicator& comm, const Options& options) {
  const int size = comm.size();
  for (int round = 0; round < 3; ++round) {
    barrier(comm, options);
    for (const std::size_t count : {1, 40}) {
      std::vector<int> data(count, comm.rank() + round);
      allreduce(comm, data, sum, options);
      EXPECT_EQ(data, std::vector<int>(count, size * (size - 1) / 2 + size * round));
      const int root = (round * 29 + 5) % size;
      std::vector<int> given(count, comm.rank() == root ? round + 7 : 0);
      bcast(comm, given, root, options);
      EXPECT_EQ(given, std::vector<int>(count, round + 7));
      std::vector<int> highest(count);
      reduce(comm, std::vector<int>(count, comm.rank()), highest, max, root, options);
      if (comm.rank() == root) {
        EXPECT_EQ(highest, std::vector<int>(count, size - 1));
      }
    }
  }
}

TEST(ManyRanks, ByThePlannersChoice) { make_short_calls(world(), {}); }

TEST(ManyRanks, ByTheTree) { make_short_calls(world(), {.algorithm = "shm:tree"}); }

TEST(ManyRanks, ByTheTreeOfAMachineOfManyCaches) {
  std::vector<Place> places;
  for (int rank = 0; rank < world().size(); ++rank) places.push_back({0, rank, rank / 32, rank / 4, rank, 1});
  const Grouped grouped(world(), detail::shm::Groups(places));
  make_short_calls(world(), {.algorithm = "shm:tree"});
}

/// Long blocks between all pairs, in memory that is reserved when a cell first needs it.
TEST(ManyRanks, ExchangeBlocksOfDifferentLengths) {
  const auto size = static_cast<std::size_t>(world().size());
  const auto me = static_cast<std::size_t>(world().rank());
  const auto length = [size](std::size_t from, std::size_t to) { return 200 + (from * 3 + to) % size; };
  std::vector<std::size_t> send_counts, recv_counts, send_displs{0}, recv_displs{0};
  for (std::size_t r = 0; r < size; ++r) {
    send_counts.push_back(length(me, r));
    recv_counts.push_back(length(r, me));
    send_displs.push_back(send_displs.back() + send_counts.back());
    recv_displs.push_back(recv_displs.back() + recv_counts.back());
  }
  std::vector<int> send(send_displs.back());
  std::vector<int> recv(recv_displs.back());
  for (std::size_t r = 0; r < size; ++r)
    for (std::size_t i = 0; i < send_counts[r]; ++i) send[send_displs[r] + i] = static_cast<int>(me * 1000 + r);
  send_displs.pop_back();
  recv_displs.pop_back();
  alltoallv(world(), send, send_counts, send_displs, recv, recv_counts, recv_displs);
  for (std::size_t r = 0; r < size; ++r) {
    EXPECT_EQ(recv[recv_displs[r]], static_cast<int>(r * 1000 + me));
    EXPECT_EQ(recv[recv_displs[r] + recv_counts[r] - 1], static_cast<int>(r * 1000 + me));
  }
}

/// Every rank is every other's neighbour, so that notices meet in their first lines; the long blocks find no room.
TEST(ManyRanks, AllAreNeighbours) {
  const auto size = static_cast<std::size_t>(world().size());
  const int me = world().rank();
  std::vector<int> others;
  for (int r = 0; r < world().size(); ++r)
    if (r != me) others.push_back(r);
  const int degree = static_cast<int>(others.size());
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, others.data(), MPI_UNWEIGHTED, degree, others.data(),
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  const Communicator comm = Communicator::adopt(graph);
  for (const std::size_t count : {3U, 100U, 300U}) {
    std::vector<int> send;
    for (const int to : others) send.insert(send.end(), count, me * static_cast<int>(size) + to);
    std::vector<int> recv(send.size());
    std::vector<int> expected;
    for (const int from : others) expected.insert(expected.end(), count, from * static_cast<int>(size) + me);
    neighbor_alltoall(comm, send, recv);
    EXPECT_EQ(recv, expected);
  }
}

}  // namespace
}  // namespace tutti::test
