// SPDX-License-Identifier: BSD-3-Clause
// Plans on two emulated nodes (MPICH's MPIR_CVAR_NUM_CLIQUES=2). Ends as skipped where all ranks are on one node.
#include <chrono>
#include <thread>
#include <tutti/tutti.hpp>

#include "call/context.hpp"
#include "call/known_calls.hpp"
#include "planner/candidates.hpp"
#include "planner/planner.hpp"
#include "support/exercise.hpp"

namespace tutti::test {
namespace {

using detail::CallKind;

const Communicator& world() { return communicators().front(); }
bool has_two_nodes() { return world().topology().nodes > 1; }
bool has_pairs() { return has_two_nodes() && world().size() > world().topology().nodes; }

detail::Signature blocking(Operation operation, std::size_t count) {
  detail::Signature s;
  s.operation = operation;
  s.type = DatatypeKind::float32;
  s.count = count;
  return s;
}

std::shared_ptr<const detail::Plan> plan_of(const detail::Signature& s) {
  return detail::make_plan(s, world().state()->machine());
}

class TwoNodes : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_two_nodes()) GTEST_SKIP() << "all ranks are on one node: this MPI does not emulate several";
  }
};

TEST_F(TwoNodes, MapIsThatOfTheTopology) {
  const auto& state = *world().state();
  ASSERT_EQ(state.node_of.size(), world().size());
  for (int rank = 0; rank < world().size(); ++rank)
    EXPECT_EQ(state.node_of.node(rank), world().topology().places[static_cast<std::size_t>(rank)].node);
  EXPECT_EQ(*state.machine().node_of, state.node_of);
}

TEST_F(TwoNodes, NoSharedMemoryAcross) {
  EXPECT_FALSE(world().state()->machine().shared_memory);
  detail::Signature s = blocking(Operation::allreduce, 1);
  s.algorithm = "shm";
  EXPECT_THROW((void)plan_of(s), Error);
}

TEST_F(TwoNodes, HierarchicalPlansAreChosenWhereNodesHaveSeveralRanks) {
  for (const Operation operation : {Operation::bcast, Operation::reduce, Operation::allreduce,
                                    Operation::reduce_scatter_block, Operation::allgather, Operation::alltoall}) {
    bool is_chosen = false;
    for (const std::size_t count : {std::size_t{1}, std::size_t{1024}, std::size_t{1} << 18U})
      is_chosen = is_chosen || plan_of(blocking(operation, count))->algorithm->hierarchical;
    EXPECT_EQ(is_chosen, has_pairs()) << operation_name(operation);
  }
}

TEST_F(TwoNodes, ChosenPlanIsWhatACallRuns) {
  std::vector<float> data(1024, 1.0F);
  allreduce(world(), data, sum);
  EXPECT_EQ(data, std::vector<float>(1024, static_cast<float>(world().size())));
  auto& cache = world().state()->plans;
  detail::Signature s = blocking(Operation::allreduce, data.size());
  const std::size_t before = cache.size();
  const auto plan = cache.get(s, [&](const detail::Signature& made) { return plan_of(made); });
  EXPECT_EQ(cache.size(), before) << "the call had another signature";
  EXPECT_EQ(plan->algorithm, plan_of(s)->algorithm);
}

/// The clock of the machine, which the emulated nodes share.
std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

TEST_F(TwoNodes, NobodyLeavesABarrierBeforeTheLastHasCome) {
  for (const detail::Candidate& c : detail::candidates(blocking(Operation::barrier, 0), world().state()->machine()))
    for (int late = 0; late < world().size(); ++late) {
      if (!c.nameable) continue;
      Options options;
      options.algorithm = c.name;
      if (world().rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      const std::int64_t entered = now();
      barrier(world(), options);
      const std::int64_t left = now();
      std::int64_t last_entered = 0;
      MPI_Allreduce(&entered, &last_entered, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
      EXPECT_GE(left, last_entered) << "'" << c.name << "', rank " << late << " late";
    }
}

TEST_F(TwoNodes, NodesOfPartsAreCountedAnew) {
  const Communicator reversed = world().split(0, -world().rank());
  EXPECT_EQ(reversed.state()->node_of.node(0), 0);
  EXPECT_EQ(reversed.topology().nodes, world().topology().nodes);
}

}  // namespace
}  // namespace tutti::test
