// SPDX-License-Identifier: BSD-3-Clause
#include <set>

#include "algorithms/checker.hpp"
#include "cases.hpp"

namespace tutti::algorithms {
namespace {

bool has_root(Operation operation) {
  switch (operation) {
    case Operation::bcast:
    case Operation::reduce:
    case Operation::gather:
    case Operation::gatherv:
    case Operation::scatter:
    case Operation::scatterv:
      return true;
    default:
      return false;
  }
}

// One whose messages do not grow with the square of the ranks; bruck's do in number of copies.
bool scales(const Algorithm& algorithm) {
  const Cost cost = algorithm.cost(1024, 0);
  return cost.messages < 40 && cost.rounds < 40 && algorithm.operation != Operation::alltoall;
}

class Proof : public testing::TestWithParam<Algorithm> {
 protected:
  void prove(int size, const std::set<std::size_t>& counts) {
    const Algorithm& algorithm = GetParam();
    const std::set<int> roots =
        has_root(algorithm.operation) ? std::set{0, std::min(1, size - 1), size - 1} : std::set{0};
    for (const int root : roots)
      for (const std::size_t count : counts) {
        const Report report = check(algorithm, World(algorithm.operation, size, root, count));
        ASSERT_TRUE(report.ok) << report.problem << " (count " << count << ")";
      }
  }
};

TEST_P(Proof, SmallWorlds) {
  for (int size = 1; size <= 40; ++size) {
    const auto n = static_cast<std::size_t>(size);
    prove(size, size <= 17 ? std::set<std::size_t>{0, 1, 3, n - 1, 2 * n + 1} : std::set<std::size_t>{0, 1, n - 1});
  }
}

TEST_P(Proof, LargeWorlds) {
  for (const int size : {64, 65, 100}) prove(size, {2, 101});
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Proof, testing::ValuesIn(algorithms_where([](const Algorithm&) { return true; })),
                         name_of);

class ProofAtScale : public Proof {};

TEST_P(ProofAtScale, VeryLargeWorlds) {
  for (const int size : {127, 128, 130, 256}) prove(size, {1, 5});
}

INSTANTIATE_TEST_SUITE_P(Algorithms, ProofAtScale, testing::ValuesIn(algorithms_where(scales)), name_of);

TEST(Registry, HasTwoAlgorithmsForTheMainOperationsAndOneForAll) {
  for (int i = 0; i <= static_cast<int>(Operation::alltoallv); ++i) {
    const auto operation = static_cast<Operation>(i);
    const bool only_linear = operation == Operation::gatherv || operation == Operation::scatterv;
    EXPECT_GE(algorithms_of(operation).size(), only_linear ? 1U : 2U) << operation_name(operation);
  }
}

TEST(Registry, EveryReductionHasAnUnlimitedAlgorithmThatCombinesOnceInOrder) {
  for (const Operation operation : {Operation::reduce, Operation::allreduce, Operation::reduce_scatter,
                                    Operation::reduce_scatter_block, Operation::scan, Operation::exscan}) {
    bool found = false;
    for (const Algorithm& a : algorithms_of(operation))
      found = found || (a.single_combine && a.ordered && a.max_size == 0);
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
}  // namespace tutti::algorithms
