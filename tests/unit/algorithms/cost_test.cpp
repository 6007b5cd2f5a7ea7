// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "algorithms/checker.hpp"
#include "cases.hpp"

namespace tutti::algorithms {
namespace {

class Costs : public testing::TestWithParam<Algorithm> {};

bool has_blocks(Operation operation) {
  return operation == Operation::reduce_scatter_block || operation == Operation::gather ||
         operation == Operation::scatter || operation == Operation::allgather || operation == Operation::alltoall;
}

bool is_exact(const Algorithm& algorithm) {
  const Operation operation = algorithm.operation;
  return !(operation == Operation::reduce_scatter || operation == Operation::gatherv ||
           operation == Operation::scatterv || operation == Operation::allgatherv || operation == Operation::alltoallv);
}

// With blocks of equal size (for irregular counts the formulas are estimates); one element counts as one byte.
TEST_P(Costs, FormulaIsWhatTheSlowestRankDoes) {
  const Algorithm& algorithm = GetParam();
  for (int size = 1; size <= 40; ++size) {
    // Divisible by the ranks and by every power of two below.
    const std::size_t count = has_blocks(algorithm.operation) ? 3 : static_cast<std::size_t>(size) * 32;
    const Report report = check(algorithm, World(algorithm.operation, size, 0, count));
    ASSERT_TRUE(report.ok) << report.problem;
    const double bytes = static_cast<double>(count) * (has_blocks(algorithm.operation) ? size : 1);
    const Cost cost = algorithm.cost(size, algorithm.operation == Operation::barrier ? 0 : bytes);
    if (algorithm.operation == Operation::exscan && algorithm.name == "recursive_doubling") {
      EXPECT_DOUBLE_EQ(report.measured.rounds, cost.rounds) << size;
      EXPECT_LE(report.measured.bytes, cost.bytes) << size;
      EXPECT_LE(report.measured.reduced_bytes, cost.reduced_bytes) << size;
      continue;
    }
    EXPECT_DOUBLE_EQ(report.measured.bytes, cost.bytes) << size << " ranks";
    EXPECT_DOUBLE_EQ(report.measured.messages, cost.messages) << size << " ranks";
    EXPECT_DOUBLE_EQ(report.measured.reduced_bytes, cost.reduced_bytes) << size << " ranks";
    EXPECT_DOUBLE_EQ(report.measured.copied_bytes, cost.copied_bytes) << size << " ranks";
    // A chain's cost is its length, not the rounds of one rank.
    const bool is_chain = algorithm.name == "linear" &&
                          (algorithm.operation == Operation::scan || algorithm.operation == Operation::exscan);
    EXPECT_DOUBLE_EQ(report.measured.rounds, is_chain ? std::min(size - 1, 2) : cost.rounds) << size << " ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Costs, testing::ValuesIn(algorithms_where(is_exact)), name_of);

}  // namespace
}  // namespace tutti::algorithms
