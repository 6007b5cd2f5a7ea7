// SPDX-License-Identifier: BSD-3-Clause
// Neighborhood collectives through the slots of a node: where blocks find room and where not, and ranks that differ.
#include <tutti/collectives/neighborhood.hpp>

#include <gtest/gtest.h>

#include <string>
#include <tutti/tutti.hpp>
#include <utility>

#include "support/world.hpp"

namespace tutti::test {
namespace {

/// A ring of all ranks: each sends to the next one, so many times.
Communicator ring(int edges) {
  int size = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::vector<int> to(static_cast<std::size_t>(edges), (rank + 1) % size);
  const std::vector<int> from(static_cast<std::size_t>(edges), (rank + size - 1) % size);
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, edges, from.data(), MPI_UNWEIGHTED, edges, to.data(), MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &graph);
  return Communicator::adopt(graph);
}

std::vector<std::byte> bytes_of(int rank, std::size_t count, int iteration) {
  std::vector<std::byte> data(count);
  for (std::size_t i = 0; i < count; ++i)
    data[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(rank * 31 + iteration));
  return data;
}

int before(const Communicator& comm) { return (comm.rank() + comm.size() - 1) % comm.size(); }

/// Around what a line and a slot hold; more calls than there are cells.
TEST(NeighborSlots, BlocksOfAnyLength) {
  const Communicator comm = ring(1);
  int iteration = 0;
  for (const std::size_t bytes : {1U, 31U, 32U, 33U, 64U, 4095U, 32767U, 32768U, 32769U, 65536U, 300000U})
    for (int turn = 0; turn < 5; ++turn, ++iteration) {
      std::vector<std::byte> recv(bytes);
      neighbor_allgather(comm, bytes_of(comm.rank(), bytes, iteration), recv);
      ASSERT_EQ(recv, bytes_of(before(comm), bytes, iteration)) << bytes;
    }
}

/// Starts of several persistent calls overlap, more of them than there are cells for such calls.
TEST(NeighborSlots, ManyPersistentCalls) {
  const Communicator comm = ring(1);
  constexpr std::size_t calls = 20;
  std::vector<std::vector<std::byte>> send(calls);
  std::vector<std::vector<std::byte>> recv(calls);
  std::vector<Request> requests;
  for (std::size_t k = 0; k < calls; ++k) {
    send[k].resize(16 + 1000 * k);
    recv[k].resize(16 + 1000 * k);
    requests.push_back(neighbor_allgather_init(comm, send[k], recv[k]));
  }
  for (int iteration = 0; iteration < 4; ++iteration) {
    for (std::size_t k = 0; k < calls; ++k) {
      const std::vector<std::byte> data = bytes_of(comm.rank() + static_cast<int>(k), send[k].size(), iteration);
      std::copy(data.begin(), data.end(), send[k].begin());
    }
    // Ranks start them in different orders.
    for (std::size_t k = 0; k < calls; ++k) requests[comm.rank() % 2 == 0 ? k : calls - 1 - k].start();
    for (Request& request : requests) request.wait();
    for (std::size_t k = 0; k < calls; ++k)
      EXPECT_EQ(recv[k], bytes_of(before(comm) + static_cast<int>(k), recv[k].size(), iteration));
  }
}

/// More calls under way than there are cells, between others that take cells too.
TEST(NeighborSlots, ManyCallsUnderWay) {
  const Communicator comm = ring(2);
  constexpr std::size_t calls = 30;
  std::vector<std::vector<std::byte>> send(calls);
  std::vector<std::vector<std::byte>> recv(calls);
  std::vector<std::vector<int>> sums(calls, {1});
  std::vector<Request> requests;
  for (std::size_t k = 0; k < calls; ++k) {
    send[k] = bytes_of(comm.rank(), 2 * (k * k * 40 + 1), static_cast<int>(k));
    recv[k].resize(send[k].size());
    requests.push_back(ineighbor_alltoall(comm, send[k], recv[k]));
    requests.push_back(iallreduce(comm, in_place, sums[k], sum));
  }
  while (!requests.empty()) {
    requests.back().wait();
    requests.pop_back();
  }
  for (std::size_t k = 0; k < calls; ++k) {
    EXPECT_EQ(recv[k], bytes_of(before(comm), recv[k].size(), static_cast<int>(k)));
    EXPECT_EQ(sums[k].front(), comm.size());
  }
}

/// Runs a call that some ranks make differently. Returns the text of this rank's error, or nothing.
template <typename Call>
std::string error_of(const Call& call) {
  try {
    call();
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::mismatch) << error.what();
    return error.what();
  }
}

const Options limited = [] {
  Options options;
  options.timeout = std::chrono::seconds(20);
  return options;
}();

/// Also where the blocks of one end fit a slot and those of the other do not.
TEST(NeighborSlots, BlocksOfTwoSizesAreAMismatch) {
  for (const auto& [sent, bytes] :
       {std::pair{4U, 8U}, {96U, 100U}, {99996U, 100000U}, {32768U, 32772U}, {32772U, 32768U}, {100000U, 64000U}}) {
    const Communicator comm = ring(1);
    const bool is_first = comm.rank() == 0;
    std::vector<std::byte> recv(bytes);
    const std::string text =
        error_of([&] { neighbor_allgather(comm, bytes_of(comm.rank(), is_first ? sent : bytes, 0), recv, limited); });
    const std::string expected =
        "rank 0 sends rank 1 " + std::to_string(sent) + " bytes, but that rank expects " + std::to_string(bytes);
    if (comm.rank() == 1) {
      EXPECT_NE(text.find(expected), std::string::npos) << text;
    }
  }
}

TEST(NeighborSlots, EqualSumsOfOtherBlocksAreAMismatch) {
  const Communicator comm = ring(2);
  const bool is_first = comm.rank() == 0;
  std::vector<std::byte> recv(24);
  const std::vector<std::size_t> even{12, 12}, even_at{0, 12}, uneven{8, 16}, uneven_at{0, 8};
  const std::vector<std::byte> data = bytes_of(comm.rank(), 24, 0);
  const std::string text = error_of([&] {
    neighbor_alltoallv(comm, data, is_first ? uneven : even, is_first ? uneven_at : even_at, recv, even, even_at,
                       limited);
  });
  if (comm.rank() == 1) {
    EXPECT_NE(text.find("in other blocks"), std::string::npos) << text;
  }
}

TEST(NeighborSlots, AnotherCallIsAMismatch) {
  const Communicator comm = ring(1);
  std::vector<int> send(2, comm.rank());
  std::vector<int> recv(2);
  const std::string text = error_of([&] {
    if (comm.rank() == 0)
      allreduce(comm, send, recv, sum, limited);
    else
      neighbor_allgather(comm, send, recv, limited);
  });
  if (comm.rank() < 2) {  // no other rank need wait for rank 0's blocks
    EXPECT_NE(text.find("neighbor_allgather"), std::string::npos) << text;
    EXPECT_NE(text.find("allreduce"), std::string::npos) << text;
  }
}

TEST(NeighborSlots, ARefusalReachesTheOthers) {
  const Communicator comm = ring(1);
  std::vector<int> send(2, comm.rank());
  std::vector<int> recv(2);
  std::string text;
  try {
    neighbor_alltoall(comm, send, Buffer(recv.data(), comm.rank() == 0 ? 2 : -1, DatatypeKind::int32), limited);
  } catch (const Error& error) {
    text = error.what();
    EXPECT_EQ(error.code(), comm.rank() == 0 ? ErrorCode::mismatch : ErrorCode::invalid_argument) << text;
  }
  if (comm.rank() == 0) {
    EXPECT_NE(text.find("has refused its neighbor_alltoall"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tutti::test
