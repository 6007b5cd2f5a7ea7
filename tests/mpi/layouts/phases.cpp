// SPDX-License-Identifier: BSD-3-Clause
// Phases on a node as exchanges over its memory, on two emulated nodes (MPICH's MPIR_CVAR_NUM_CLIQUES=2). Ends as
// skipped where all ranks are on one node.
#include <numeric>
#include <stdexcept>
#include <thread>
#include <tutti/tutti.hpp>

#include "call/context.hpp"
#include "call/plan.hpp"
#include "planner/planner.hpp"
#include "support/exercise.hpp"
#include "support/meet.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using detail::CallKind;

const Communicator& world() { return communicators().front(); }

bool has_exchange(const schedules::Schedule& schedule) {
  return std::ranges::any_of(schedule.rounds, [](const schedules::Round& round) { return round.exchange.has_value(); });
}

class Phases : public ::testing::Test {
 protected:
  void SetUp() override {
    if (world().topology().nodes == 1) GTEST_SKIP() << "all ranks are on one node: this MPI does not emulate several";
    if (world().size() == world().topology().nodes) GTEST_SKIP() << "each rank is alone on its node";
    if (!world().state()->node_memory.is_shared) GTEST_SKIP() << "the ranks of a node share no memory";
  }
  /// Whether others are on this rank's node.
  static bool has_neighbours() { return world().state()->node != nullptr; }
};

Options by_leaders() {
  Options options;
  options.algorithm = "hierarchical";
  return options;
}

TEST_F(Phases, AreExchangesInBlockingCallsOnly) {
  for (const CallKind kind : {CallKind::blocking, CallKind::nonblocking, CallKind::persistent}) {
    detail::Signature s;
    s.operation = Operation::allreduce;
    s.kind = kind;
    s.type = DatatypeKind::float32;
    s.count = 100;
    s.algorithm = "hierarchical";
    const auto plan = detail::make_plan(s, world().state()->machine());
    EXPECT_EQ(has_exchange(*plan->schedule), kind == CallKind::blocking && has_neighbours());
    s.is_piece = true;
    EXPECT_FALSE(has_exchange(*detail::make_plan(s, world().state()->machine())->schedule));
  }
}

TEST_F(Phases, NodesAreTheRanksThatShareThem) {
  const auto& state = *world().state();
  const int own = state.node_of.node(state.rank);
  const auto neighbours = state.topology.ranks_per_node[static_cast<std::size_t>(own)];
  ASSERT_EQ(has_neighbours(), neighbours > 1);
  if (!has_neighbours()) return;
  EXPECT_EQ(state.node->size, neighbours);
}

TEST_F(Phases, ManyCallsInTurnAreRight) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  const int size = comm.size();
  for (int i = 0; i < 200; ++i) {
    const std::size_t count = i % 7 == 0 ? 5000 : static_cast<std::size_t>(i % 5);
    std::vector<std::int64_t> data(count, comm.rank() + i);
    allreduce(comm, data, sum, by_leaders());
    const std::vector<std::int64_t> right(count, std::int64_t{size} * i + std::int64_t{size} * (size - 1) / 2);
    ASSERT_EQ(data, right) << "call " << i;
    std::vector<std::int64_t> all(count * static_cast<std::size_t>(size));
    const std::vector<std::int64_t> own(count, comm.rank() * 1000 + i);
    allgather(comm, own, all, by_leaders());
    for (std::size_t at = 0; at < all.size(); ++at)
      ASSERT_EQ(all[at], static_cast<std::int64_t>(at / count) * 1000 + i) << "call " << i;
    std::int64_t from_root = comm.rank() == i % size ? i : -1;
    bcast(comm, Buffer(&from_root, 1), i % size, by_leaders());
    ASSERT_EQ(from_root, i);
  }
}

TEST_F(Phases, RankThatDoesNotComeIsATimeout) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  if (comm.rank() + 1 < comm.size()) {
    Options options = by_leaders();
    options.timeout = 300ms;
    std::vector<float> data(100, 1.0F);
    const auto begin = std::chrono::steady_clock::now();
    try {
      allreduce(comm, data, sum, options);
      ADD_FAILURE() << "no error";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::timeout) << e.what();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
    EXPECT_THROW(barrier(comm), Error);
  }
  meet();
}

void give_up(const void* /*in*/, void* /*inout*/, std::size_t /*count*/, Datatype /*type*/, void* context) {
  if (context != nullptr) throw std::runtime_error("the solver diverged");
}

// The leader of a node combines; its neighbours wait for the result in the next phase, and hear of the failure there.
TEST_F(Phases, FailureIsToldToTheNode) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  const auto& state = *comm.state();
  const int own = state.node_of.node(state.rank);
  const bool is_first_node = own == state.node_of.node(0);
  int thrower = 0;
  const ReduceOp op = ReduceOp::user(give_up, is_first_node ? &thrower : nullptr);
  Options options = by_leaders();
  options.timeout = is_first_node ? 20s : 500ms;
  const bool has_leader = state.node != nullptr && is_first_node;
  std::vector<double> data(3, 1.0);
  const auto begin = std::chrono::steady_clock::now();
  try {
    if (has_leader || !is_first_node) allreduce(comm, in_place, data, op, options);
    if (has_leader) ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    if (has_leader) {
      EXPECT_NE(std::string(e.what()).find("diverged"), std::string::npos) << e.what();
      EXPECT_LT(std::chrono::steady_clock::now() - begin, 15s) << "the failure was not told";
    }
  }
  meet();
}

TEST_F(Phases, AbortEndsAWaitOnTheNode) {
  Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  const auto& state = *comm.state();
  const bool is_last = comm.rank() + 1 == comm.size();
  if (is_last) {
    std::this_thread::sleep_for(50ms);
    comm.abort("no convergence");
  }
  std::vector<float> data(100, 1.0F);
  try {
    allreduce(comm, data, sum, by_leaders());
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::aborted) << e.what();
    EXPECT_NE(std::string(e.what()).find("no convergence"), std::string::npos) << e.what();
  }
  EXPECT_EQ(state.size, world().size());
  meet();
}

/// The elements of a block from one rank to another: none, few, or so many that blocks between nodes travel alone.
std::size_t count_of(int from, int to, int round) {
  constexpr std::size_t scales[] = {0, 1, 700, 60'000};
  const auto scale = scales[static_cast<std::size_t>(from / 2 + 2 * (to / 2) + round) % 4];
  return scale * static_cast<std::size_t>((3 * from + 5 * to + round) % 4);
}
std::int64_t element(int from, int to, int round, std::size_t i) {
  return std::int64_t{from} * 1'000'000'007 + to * 100'003 + round * 1009 + static_cast<std::int64_t>(i);
}

/// Blocks with gaps between them.
struct Rows {
  std::vector<std::size_t> counts, displs;
  std::vector<std::int64_t> data{-1};
  void add(std::size_t count) {
    counts.push_back(count);
    displs.push_back(data.size());
    data.resize(data.size() + count + 1, -1);
  }
  void expect_block(int rank, int from, int to, int round) const {
    const auto r = static_cast<std::size_t>(rank);
    for (std::size_t i = 0; i < counts[r]; ++i)
      ASSERT_EQ(data[displs[r] + i], element(from, to, round, i)) << from << " to " << to << ", round " << round;
    ASSERT_EQ(data[displs[r] + counts[r]], -1) << "behind the block of " << rank;
  }
};

TEST_F(Phases, BlocksOfVFormsTravelTogetherOrAlone) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  const int me = comm.rank();
  for (int round = 0; round < 12; ++round) {
    Rows send;
    Rows recv;
    for (int rank = 0; rank < comm.size(); ++rank) {
      send.add(count_of(me, rank, round));
      for (std::size_t i = 0; i < send.counts.back(); ++i)
        send.data[send.displs.back() + i] = element(me, rank, round, i);
      recv.add(count_of(rank, me, round));
    }
    alltoallv(comm, send.data, send.counts, send.displs, recv.data, recv.counts, recv.displs, by_leaders());
    for (int rank = 0; rank < comm.size(); ++rank) recv.expect_block(rank, rank, me, round);
    const int root = round % comm.size();
    Rows gathered;
    for (int rank = 0; rank < comm.size(); ++rank) gathered.add(count_of(rank, root, round));
    const auto at = send.data.begin() + static_cast<std::ptrdiff_t>(send.displs[static_cast<std::size_t>(root)]);
    std::vector<std::int64_t> own(at, at + static_cast<std::ptrdiff_t>(count_of(me, root, round)));
    gatherv(comm, own, gathered.data, gathered.counts, gathered.displs, root, by_leaders());
    for (int rank = 0; me == root && rank < comm.size(); ++rank) gathered.expect_block(rank, rank, root, round);
    std::vector<std::int64_t> mine(count_of(root, me, round), -1);
    scatterv(comm, send.data, send.counts, send.displs, mine, root, by_leaders());
    for (std::size_t i = 0; i < mine.size(); ++i) ASSERT_EQ(mine[i], element(root, me, round, i)) << "round " << round;
  }
}

TEST_F(Phases, VFormsByNameNeedABlockingCall) {
  std::vector<std::int64_t> data(1, world().rank());
  std::vector<std::int64_t> all(static_cast<std::size_t>(world().size()));
  const std::vector<std::size_t> counts(all.size(), 1);
  std::vector<std::size_t> displs(all.size());
  std::iota(displs.begin(), displs.end(), std::size_t{0});
  try {
    (void)igatherv(world(), data, all, counts, displs, 0, by_leaders());
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_algorithm);
    EXPECT_NE(std::string(e.what()).find("blocking"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace tutti::test
