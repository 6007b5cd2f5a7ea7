// SPDX-License-Identifier: BSD-3-Clause
// Phases on a node as exchanges over its memory, on two emulated nodes (MPICH's MPIR_CVAR_NUM_CLIQUES=2). Ends as
// skipped where all ranks are on one node.
#include <stdexcept>
#include <thread>
#include <tutti/tutti.hpp>

#include "call/context.hpp"
#include "planner/planner.hpp"
#include "support/exercise.hpp"
#include "support/meet.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using detail::CallKind;
using schedules::Operation;

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
  const int own = state.node_of[static_cast<std::size_t>(state.rank)];
  const auto neighbours = std::ranges::count(state.node_of, own);
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
  const int own = state.node_of[static_cast<std::size_t>(state.rank)];
  const bool is_first_node = own == state.node_of.front();
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

}  // namespace
}  // namespace tutti::test
