// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <tutti/communicator.hpp>

#include "support/exercise.hpp"
#include "topology/discover.hpp"

namespace tutti::test {
namespace {

const Communicator& world() { return communicators().front(); }

void expect_works(const Communicator& comm) {
  std::vector<int> x(3, comm.rank() + 1);
  allreduce(comm, x, sum);
  EXPECT_EQ(x, std::vector<int>(3, comm.size() * (comm.size() + 1) / 2));
}

TEST(Communicator, FactoriesOwnWhatTheySay) {
  expect_works(Communicator::duplicate(MPI_COMM_WORLD));
  expect_works(Communicator::borrow(MPI_COMM_WORLD));
  MPI_Comm mine = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &mine);
  {
    const Communicator adopted = Communicator::adopt(mine);
    EXPECT_EQ(adopted.mpi_handle(), mine);
    expect_works(adopted);
  }
  MPI_Comm kept = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &kept);
  {
    const Communicator borrowed = Communicator::borrow(kept);
    EXPECT_EQ(borrowed.mpi_handle(), kept);
    expect_works(borrowed);
  }
  int size = 0;
  EXPECT_EQ(MPI_Comm_size(kept, &size), MPI_SUCCESS);
  MPI_Comm_free(&kept);
}

TEST(Communicator, UserTrafficNeverMeetsTheLibrarys) {
  const Communicator comm = Communicator::borrow(MPI_COMM_WORLD);
  int token = -1;
  MPI_Request any = MPI_REQUEST_NULL;
  MPI_Irecv(&token, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any);
  for (int i = 0; i < 5; ++i) expect_works(comm);
  const int mine = comm.rank();
  MPI_Request out = MPI_REQUEST_NULL;
  MPI_Isend(&mine, 1, MPI_INT, (mine + 1) % comm.size(), 0, MPI_COMM_WORLD, &out);
  int done = 0;
  while (done == 0) {
    MPI_Test(&any, &done, MPI_STATUS_IGNORE);
    std::this_thread::yield();
  }
  done = 0;
  while (done == 0) MPI_Test(&out, &done, MPI_STATUS_IGNORE);
  EXPECT_EQ(token, (mine + comm.size() - 1) % comm.size());
}

TEST(Communicator, KeepsTheCallersErrorHandler) {
  MPI_Comm mine = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &mine);
  MPI_Comm_set_errhandler(mine, MPI_ERRORS_ARE_FATAL);
  {
    const Communicator comm = Communicator::borrow(mine);
    expect_works(comm);
    MPI_Errhandler now = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(mine, &now);
    EXPECT_EQ(now, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&now);
  }
  MPI_Comm_free(&mine);
}

TEST(Communicator, SplitOrdersByKeyAndLeavesOut) {
  const int rank = world().rank();
  const Communicator reversed = world().split(0, -rank);
  EXPECT_EQ(reversed.rank(), world().size() - 1 - rank);
  expect_works(reversed);
  const Communicator part = world().split(rank == 0 ? MPI_UNDEFINED : 1);
  EXPECT_EQ(part.valid(), rank != 0);
  if (part.valid()) expect_works(part);
  expect_works(world().split_by_node());
}

TEST(Communicator, TopologyIsEqualOnAllRanks) {
  const Topology& machine = world().topology();
  ASSERT_EQ(machine.places.size(), static_cast<std::size_t>(world().size()));
  int ranks = 0;
  for (const int n : machine.ranks_per_node) ranks += n;
  EXPECT_EQ(ranks, world().size());
  EXPECT_EQ(machine.host_names.size(), static_cast<std::size_t>(machine.nodes));
  std::vector<int> mine;
  for (const Place& place : machine.places)
    mine.insert(mine.end(), {place.node, place.local_rank, place.numa, place.l3, place.core, place.cores_allowed});
  std::vector<int> first = mine;
  bcast(world(), first, 0);
  EXPECT_EQ(mine, first);
  for (const int cores : machine.cores_per_node) EXPECT_GE(cores, 1);
}

TEST(Communicator, EmulatedNodesAreNodes) {
  const char* cliques = std::getenv("MPIR_CVAR_NUM_CLIQUES");
  if (cliques == nullptr || world().size() < 2) GTEST_SKIP() << "needs MPIR_CVAR_NUM_CLIQUES and 2 ranks";
  EXPECT_EQ(world().topology().nodes, std::atoi(cliques));
  const Communicator node = world().split_by_node();
  EXPECT_EQ(node.topology().nodes, 1);
  EXPECT_LT(node.size(), world().size());
  expect_works(node);
}

TEST(Communicator, EmulatedNodesShareTheCoresOfTheMachine) {
  const Topology& machine = world().topology();
  if (machine.nodes == 1) GTEST_SKIP() << "needs MPIR_CVAR_NUM_CLIQUES and 2 ranks";
  const int cores = machine.cores_per_node.front();
  for (const Place& place : machine.places)
    if (place.cores_allowed != cores) GTEST_SKIP() << "ranks are bound";
  EXPECT_EQ(machine.oversubscribed, world().size() > cores);
}

TEST(Communicator, LocalRanksCountTheRanksOfANode) {
  const Topology& whole = world().topology();
  for (const Topology& machine : {whole, detail::restrict_topology(whole, MPI_COMM_WORLD, MPI_COMM_WORLD)}) {
    std::vector<int> next(static_cast<std::size_t>(machine.nodes), 0);
    for (const Place& place : machine.places) EXPECT_EQ(place.local_rank, next[static_cast<std::size_t>(place.node)]++);
    EXPECT_EQ(next, machine.ranks_per_node);
  }
}

// Ranks outside the part still want the same cores.
TEST(Communicator, APartOfACrowdedOneIsCrowded) {
  for (const bool crowded : {false, true}) {
    Topology whole = world().topology();
    whole.oversubscribed = crowded;
    EXPECT_EQ(detail::restrict_topology(whole, MPI_COMM_WORLD, MPI_COMM_SELF).oversubscribed, crowded);
  }
  EXPECT_EQ(world().split(world().rank()).topology().oversubscribed, world().topology().oversubscribed);
}

TEST(Communicator, WrongHandlesAreNamed) {
  try {
    (void)Communicator::duplicate(MPI_COMM_NULL);
    ADD_FAILURE() << "accepted MPI_COMM_NULL";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_communicator);
    EXPECT_NE(std::string(e.what()).find("comm"), std::string::npos);
  }
  const Communicator empty;
  EXPECT_THROW((void)empty.rank(), Error);
  EXPECT_THROW((void)world().split(-5), Error);
}

TEST(Communicator, DifferingOptionsAreNamedOnAllRanks) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  CommunicatorOptions options;
  options.reproducible = world().rank() == world().size() - 1;
  try {
    (void)Communicator::duplicate(MPI_COMM_WORLD, options);
    ADD_FAILURE() << "ranks with differing options made a communicator";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::mismatch);
    // A factory that fails leaves the handle to its caller.
    MPI_Comm mine = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &mine);
    EXPECT_THROW((void)Communicator::adopt(mine, options), Error);
    int size = 0;
    EXPECT_EQ(MPI_Comm_size(mine, &size), MPI_SUCCESS);
    MPI_Comm_free(&mine);
    EXPECT_NE(std::string(e.what()).find("reproducible"), std::string::npos) << e.what();
  }
}

TEST(Arguments, WrongOnesAreNamedBeforeAnythingIsSent) {
  std::vector<float> a(4);
  std::vector<float> b(5);
  std::vector<double> d(4);
  const auto fails = [](ErrorCode code, const char* word, const auto& call) {
    try {
      call();
      ADD_FAILURE() << "accepted a wrong " << word;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), code) << e.what();
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("rank"), std::string::npos) << e.what();
    }
  };
  fails(ErrorCode::invalid_argument, "send", [&] { allreduce(world(), a, b, sum); });
  fails(ErrorCode::invalid_datatype, "recv", [&] { allreduce(world(), a, d, sum); });
  fails(ErrorCode::invalid_op, "op", [&] { allreduce(world(), a, band); });
  fails(ErrorCode::invalid_op, "op", [&] { scan(world(), a, b, avg); });
  fails(ErrorCode::invalid_argument, "recv", [&] { allreduce(world(), a, a, sum); });
  fails(ErrorCode::invalid_datatype, "datatype",
        [&] { bcast(world(), Buffer(a.data(), 4, static_cast<DatatypeKind>(77)), 0); });
  fails(ErrorCode::invalid_argument, "root", [&] { bcast(world(), a, world().size()); });
  fails(ErrorCode::invalid_argument, "root", [&] { bcast(world(), a, -1); });
  fails(ErrorCode::invalid_argument, "buffer", [&] { bcast(world(), Buffer(nullptr, 4, DatatypeKind::float32), 0); });
  fails(ErrorCode::invalid_argument, "recv_counts", [&] {
    allgatherv(world(), a, b, std::vector<std::size_t>(static_cast<std::size_t>(world().size()) + 1),
               std::vector<std::size_t>(static_cast<std::size_t>(world().size())));
  });
  Options options;
  options.algorithm = "rign";
  try {
    allreduce(world(), a, sum, options);
    ADD_FAILURE() << "accepted a misspelt algorithm";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_algorithm);
    EXPECT_NE(std::string(e.what()).find("ring"), std::string::npos) << e.what();
  }
  // All of it was found before a message was sent: the communicator still works.
  expect_works(world());
}

}  // namespace
}  // namespace tutti::test
