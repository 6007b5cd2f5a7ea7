// SPDX-License-Identifier: BSD-3-Clause
// What the planner knows of the ways to make a call on several nodes, and in reproducible mode on any layout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <utility>

#include "call/plan.hpp"
#include "machines.hpp"

namespace tutti::detail::test {
namespace {

using testing::HasSubstr;

TEST(Hierarchy, OnlyWhereThereIsSomethingToCompose) {
  const Signature s = signature(Operation::allreduce, 1000);
  for (const Machine& m : {blocks(1, 4).machine(), blocks(4, 1).machine()}) {
    const auto all = candidates(s, m);
    EXPECT_THAT(find(all, "mpi:hierarchical")->excluded, HasSubstr("nothing to compose"));
    EXPECT_FALSE(all.front().algorithm->hierarchical);
  }
}

TEST(Hierarchy, MessagesArePricedByTheNodesOfTheirRanks) {
  EXPECT_FALSE(wiring_of(one_node(4)).several_nodes);
  EXPECT_TRUE(wiring_of(blocks(2, 2).machine()).several_nodes);
}

TEST(Hierarchy, IsChosenOnSeveralNodes) {
  for (const Operation operation : {Operation::bcast, Operation::reduce, Operation::allreduce, Operation::allgather,
                                    Operation::alltoall, Operation::scan, Operation::reduce_scatter_block})
    for (const Cluster& cluster : {blocks(8, 16), blocks(4, 48)}) {
      Machine machine = cluster.machine();
      machine.node_memory = {true, true, false};
      const auto plan = make_plan(signature(operation, 16), machine);
      EXPECT_TRUE(plan->algorithm->hierarchical) << operation_name(operation) << ": " << plan->algorithm->name;
    }
}

TEST(Hierarchy, AllRanksChooseTheSame) {
  for (const Operation operation : operations)
    for (const std::size_t count : {0, 1, 1000, 1'000'000})
      for (const Cluster& cluster : {blocks(2, 2), round_robin(3, 4), Cluster({0, 0, 0, 1, 1, 2, 0})}) {
        const Signature s = signature(operation, count);
        const auto first = make_plan(s, cluster.machine(0));
        for (int rank = 1; rank < cluster.machine().size; ++rank)
          ASSERT_EQ(make_plan(s, cluster.machine(rank))->algorithm, first->algorithm);
      }
}

TEST(Hierarchy, PhasesKeepOrderForWhatDoesNotCommute) {
  Signature s = signature(Operation::reduce, 1 << 20);
  s.algorithm = "mpi:hierarchical";
  const auto found = [&] {
    const auto of_blocks = blocks(16, 4);
    Machine m = of_blocks.machine();
    m.costs.cache_part = 0;  // local work, which the choice of phases leaves out, is cheap
    const auto plan = make_plan(s, m);
    const std::size_t rounds = plan->schedule->rounds.size();
    return std::tuple(plan->starts.order, rounds, find(candidates(s, m), s.algorithm)->seconds);
  };
  const auto [order, rounds, seconds] = found();
  s.op = ReduceKind::user;
  s.commutative = false;
  const auto [order_kept, rounds_kept, seconds_kept] = found();
  EXPECT_EQ(order, schedules::KeepOrder::no);
  EXPECT_EQ(order_kept, schedules::KeepOrder::yes);
  EXPECT_NE(rounds, rounds_kept);
  EXPECT_LT(seconds, seconds_kept);
}

TEST(Hierarchy, KeepsOrderOnlyWhereRanksOfANodeAreAdjacent) {
  Signature s = signature(Operation::allreduce, 1000);
  s.op = ReduceKind::user;
  s.commutative = false;
  EXPECT_TRUE(find(candidates(s, blocks(2, 4).machine()), "mpi:hierarchical")->nameable);
  const auto mixed = candidates(s, round_robin(2, 4).machine());
  EXPECT_FALSE(find(mixed, "mpi:hierarchical")->nameable);
  EXPECT_TRUE(find(mixed, "mpi:hierarchical_gather")->nameable);
  EXPECT_THAT(
      find(candidates(signature(Operation::scan, 10), round_robin(2, 4).machine()), "mpi:hierarchical")->excluded,
      HasSubstr("consecutive ranks"));
}

TEST(Hierarchy, SplitOfBlocksNeedsEvenNodes) {
  const Signature s = signature(Operation::reduce_scatter_block, 1000);
  EXPECT_TRUE(find(candidates(s, blocks(2, 4).machine()), "mpi:hierarchical_split")->nameable);
  const Cluster uneven({0, 0, 0, 1, 1});
  EXPECT_THAT(find(candidates(s, uneven.machine()), "mpi:hierarchical_split")->excluded,
              HasSubstr("same number of ranks"));
  const Signature vector = signature(Operation::allreduce, 1000);
  EXPECT_TRUE(find(candidates(vector, uneven.machine()), "mpi:hierarchical_split")->can_be_chosen());
}

TEST(Reproducible, EveryCandidateCombinesOnceInRankOrderOnEveryLayout) {
  for (const Operation operation : {Operation::reduce, Operation::allreduce, Operation::reduce_scatter,
                                    Operation::reduce_scatter_block, Operation::scan, Operation::exscan})
    for (const Machine& m :
         {one_node(4), blocks(2, 4).machine(), round_robin(2, 4).machine(), Cluster({0, 1, 0, 0, 2, 1}).machine()}) {
      Signature s = signature(operation, 1000);
      s.reproducible = true;
      int schedules = 0;
      for (const Candidate& c : candidates(s, m)) {
        if (!c.nameable) continue;
        EXPECT_NE(c.backend, &native_backend);
        if (c.backend != &mpi_backend) continue;
        ++schedules;
        EXPECT_TRUE(c.algorithm->single_combine && c.algorithm->ordered) << c.name;
      }
      EXPECT_GE(schedules, 1);
    }
}

// Phases on a node are exchanges over its memory in blocking calls alone, and have its price.
TEST(Hierarchy, NodesThatShareMemoryMakePhasesCheaper) {
  Machine shares = blocks(4, 8).machine();
  shares.node_memory = {.is_shared = true, .single_copy = true, .mapped_copy = false};
  const auto seconds_of = [](const Signature& s, const Machine& m, std::string_view name) {
    return find(candidates(s, m), name)->seconds;
  };
  for (const Operation operation : {Operation::allreduce, Operation::bcast, Operation::allgather, Operation::alltoall,
                                    Operation::reduce_scatter_block, Operation::barrier, Operation::scan}) {
    const Machine messages = blocks(4, 8).machine();
    for (const std::size_t count : {std::size_t{1}, std::size_t{4096}}) {
      Signature s = signature(operation, count);
      EXPECT_LT(seconds_of(s, shares, "mpi:hierarchical"), seconds_of(s, messages, "mpi:hierarchical"))
          << operation_name(operation) << " of " << count;
      s.is_piece = true;
      EXPECT_EQ(seconds_of(s, shares, "mpi:hierarchical"), seconds_of(s, messages, "mpi:hierarchical"));
      s.is_piece = false;
      s.kind = CallKind::persistent;
      EXPECT_EQ(seconds_of(s, shares, "mpi:hierarchical"), seconds_of(s, messages, "mpi:hierarchical"));
    }
  }
}

// The ranks of a node tell one another their counts over its memory, which only blocking calls use.
TEST(Hierarchy, VFormsAreHierarchicalInBlockingCallsOnSharedMemory) {
  Machine shares = blocks(8, 16).machine();
  shares.node_memory = {.is_shared = true, .single_copy = true, .mapped_copy = false};
  for (const auto& [operation, flat] : {std::pair{Operation::gatherv, "mpi:linear"},
                                        {Operation::scatterv, "mpi:linear"},
                                        {Operation::alltoallv, "mpi:pairwise"}}) {
    Signature s = signature(operation, 0);
    const auto all = candidates(s, shares);
    EXPECT_LT(find(all, "mpi:hierarchical")->seconds, find(all, flat)->seconds) << operation_name(operation);
    EXPECT_TRUE(find(all, "mpi:hierarchical")->can_be_chosen());
    EXPECT_FALSE(find(candidates(s, blocks(8, 16).machine()), "mpi:hierarchical")->nameable);
    s.kind = CallKind::nonblocking;
    EXPECT_FALSE(find(candidates(s, shares), "mpi:hierarchical")->nameable);
  }
}

}  // namespace
}  // namespace tutti::detail::test
