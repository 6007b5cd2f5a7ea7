// SPDX-License-Identifier: BSD-3-Clause
#include <set>

#include "cases.hpp"
#include "support/proof/checker.hpp"

namespace tutti::schedules {
namespace {

/// Shows for an algorithm and numbers of ranks what checker.hpp lists, in separate memory and in place.
class Proof : public testing::TestWithParam<Algorithm> {
 protected:
  void prove(int size, std::set<int> roots, const std::set<std::size_t>& counts) {
    const Algorithm& algorithm = GetParam();
    if (!fits(algorithm, size)) return;
    if (!has_root(algorithm.operation)) roots = {0};
    for (const int root : roots)
      for (const std::size_t count : counts) {
        prove_one(World(algorithm.operation, size, root, count), count);
        // Elements so large that a few of them travel in several chunks.
        if (is_pipelined(algorithm))
          prove_one(World(algorithm.operation, size, root, count).set_element_size(16384), count);
      }
  }

 private:
  void prove_one(const World& world, std::size_t count) {
    // In place twice the work: that is shown up to 512 ranks.
    const Report report = world.size() <= 512 ? check(GetParam(), world)
                                              : check(GetParam(), world, world.schedules(GetParam()), Memory::separate);
    ASSERT_TRUE(report.ok) << report.problem << " (count " << count << ")";
  }
};

TEST_P(Proof, UpTo20RanksForAllRootsAndManyCounts) {
  for (int size = 1; size <= 20; ++size) {
    const auto n = static_cast<std::size_t>(size);
    std::set<int> roots;
    for (int root = 0; root < size; ++root) roots.insert(root);
    prove(size, roots, {0, 1, 3, n - 1, 2 * n + 1});
  }
}

TEST_P(Proof, From21To130Ranks) {
  for (int size = 21; size <= 130; ++size)
    prove(size, {0, size / 3}, {has_blocks(GetParam().operation) ? 1 : static_cast<std::size_t>(size) + 1});
}

TEST_P(Proof, ManyRanks) {
  for (const int size : large_sizes(GetParam())) {
    // A vector that is not cut into blocks needs few elements.
    const bool is_whole = cost_of(GetParam(), size, 1).bytes > 3 || is_logarithmic(GetParam());
    const std::size_t vector = is_whole ? 37 : static_cast<std::size_t>(size);
    prove(size, {1}, {has_blocks(GetParam().operation) ? 1 : vector});
  }
}

TEST_P(Proof, InAnyOrderOfProgress) {
  const Algorithm& algorithm = GetParam();
  for (const int size : {2, 5, 8, 13, 16, 31}) {
    if (!fits(algorithm, size)) continue;
    const World world(algorithm.operation, size, size / 2, 7);
    const std::vector<Schedule> schedules = world.schedules(algorithm);
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
      const Order order{seed == 0 ? Order::Kind::oldest_first : Order::Kind::shuffled, seed};
      for (const Memory memory : {Memory::separate, Memory::in_place}) {
        const Report report = check(algorithm, world, schedules, memory, order);
        ASSERT_TRUE(report.ok) << report.problem << " (seed " << seed << ")";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Proof, testing::ValuesIn(all_algorithms()), name_of);

TEST(Registry, HasTwoAlgorithmsForTheMainOperationsAndOneForAll) {
  for (int i = 0; i <= static_cast<int>(Operation::alltoallv); ++i) {
    const auto operation = static_cast<Operation>(i);
    const bool only_linear = operation == Operation::gatherv || operation == Operation::scatterv;
    EXPECT_GE(algorithms_of(operation).size(), only_linear ? 1U : 2U) << operation_name(operation);
  }
}

TEST(Registry, HasForAnyNumberOfRanksOneThatFits) {
  for (int i = 0; i <= static_cast<int>(Operation::alltoallv); ++i)
    for (int size = 1; size <= 9; ++size) {
      int fitting = 0;
      for (const Algorithm& a : algorithms_of(static_cast<Operation>(i))) fitting += fits(a, size) ? 1 : 0;
      EXPECT_GE(fitting, 1) << operation_name(static_cast<Operation>(i));
    }
  EXPECT_FALSE(fits(*find_algorithm(Operation::allgather, "neighbor_exchange"), 5));
  EXPECT_FALSE(fits(*find_algorithm(Operation::allgather, "recursive_doubling"), 6));
  EXPECT_TRUE(fits(*find_algorithm(Operation::allgather, "recursive_doubling"), 8));
}

TEST(Registry, EveryReductionHasAnUnlimitedAlgorithmThatCombinesOnceInOrder) {
  for (const Operation operation : {Operation::reduce, Operation::allreduce, Operation::reduce_scatter,
                                    Operation::reduce_scatter_block, Operation::scan, Operation::exscan}) {
    bool found = false;
    for (const Algorithm& a : algorithms_of(operation))
      found = found || (a.single_combine && a.ordered && a.max_size == 0 && a.fits == nullptr);
    EXPECT_TRUE(found) << operation_name(operation);
  }
}

TEST(Registry, EveryReductionHasALogarithmicAlgorithmInOrder) {
  for (const Operation operation : {Operation::reduce, Operation::allreduce, Operation::reduce_scatter,
                                    Operation::reduce_scatter_block, Operation::scan, Operation::exscan}) {
    bool found = false;
    for (const Algorithm& a : algorithms_of(operation))
      found = found || (a.ordered && a.max_size == 0 && a.fits == nullptr && is_logarithmic(a));
    EXPECT_TRUE(found) << operation_name(operation);
  }
}

TEST(Registry, FindsByName) {
  ASSERT_NE(find_algorithm(Operation::allreduce, "ring"), nullptr);
  EXPECT_EQ(find_algorithm(Operation::allreduce, "ring")->name, "ring");
  EXPECT_EQ(find_algorithm(Operation::barrier, "ring"), nullptr);
  EXPECT_EQ(operation_name(Operation::reduce_scatter_block), "reduce_scatter_block");
}

}  // namespace
}  // namespace tutti::schedules
