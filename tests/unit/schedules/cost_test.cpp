// SPDX-License-Identifier: BSD-3-Clause
#include "cases.hpp"
#include "schedules/blocks.hpp"
#include "support/proof/checker.hpp"
#include "support/proof/critical_path.hpp"

namespace tutti::schedules {
namespace {

/// Of the two trees, the formula counts every hop as if both of a rank's children had work for it.
bool is_bound(const Algorithm& algorithm) { return algorithm.name == "double_tree"; }

/// Elements that `size` blocks, and as many as the power of two below, share evenly.
World even_world(const Algorithm& algorithm, int size) {
  const auto n = static_cast<std::size_t>(size);
  const std::size_t count = has_blocks(algorithm.operation) ? 3 : n * static_cast<std::size_t>(floor_power(size));
  return World(algorithm.operation, size, 0, count).make_regular();
}

class Costs : public testing::TestWithParam<Algorithm> {
 protected:
  void expect_exact(const World& world) {
    const Report report = check_cost(GetParam(), world);
    EXPECT_TRUE(report.ok) << report.problem;
  }
};

TEST_P(Costs, AreTheClosedFormulas) {
  for (int size = 1; size <= 130; ++size)
    if (fits(GetParam(), size)) expect_exact(even_world(GetParam(), size));
  for (const int size : large_sizes(GetParam()))
    if (fits(GetParam(), size)) expect_exact(even_world(GetParam(), size));
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Costs, testing::ValuesIn(algorithms_where([](const Algorithm& a) {
                           return !is_pipelined(a) && !is_bound(a);
                         })),
                         name_of);

class PipelineCosts : public testing::TestWithParam<Algorithm> {
 protected:
  /// A count near `count` that halves and chunks share evenly.
  static std::size_t even_count(int size, std::size_t count) {
    const auto chunks = [size](std::size_t n) {
      const double of_one = cost_of(GetParam(), size, 0).rounds;
      return static_cast<std::size_t>(cost_of(GetParam(), size, static_cast<double>(n)).rounds - of_one) + 1;
    };
    while (count % (2 * chunks(count)) != 0) count += 2 * chunks(count) - count % (2 * chunks(count));
    return count;
  }
};

TEST_P(PipelineCosts, AreTheClosedFormulas) {
  const Algorithm& algorithm = GetParam();
  for (int size = 1; size <= 130; ++size)
    for (const std::size_t about : {64U, 100'000U, 3'000'000U}) {
      const World world(algorithm.operation, size, 0, even_count(size, about));
      const Report report = check_cost(algorithm, world);
      const Cost formula = cost_of(algorithm, size, world.bytes());
      EXPECT_EQ(report.measured.rounds, formula.rounds) << size << " ranks";
      EXPECT_EQ(report.measured.copied_bytes, formula.copied_bytes) << size << " ranks";
      EXPECT_TRUE(report.ok || is_bound(algorithm)) << report.problem;
      // Never cheaper than what is done, and a few chunks too dear at most.
      const auto expect_bound = [size](double is, double says, double hop) {
        EXPECT_LE(is, says * (1 + 1e-12)) << size << " ranks";
        EXPECT_GE(is * (1 + 1e-12), says - hop) << size << " ranks";
      };
      const double hop = size > 1 ? 6 * world.bytes() / (formula.rounds - cost_of(algorithm, size, 0).rounds + 1) : 0;
      expect_bound(report.measured.bytes, formula.bytes, hop);
      expect_bound(report.measured.reduced_bytes, formula.reduced_bytes, ceil_log2(size) * hop);
      expect_bound(report.measured.messages, formula.messages, 16);
    }
}

TEST_P(PipelineCosts, ChunksAreFewWhereRoundsStartSlowly) {
  const Algorithm& algorithm = GetParam();
  for (int size = 3; size <= 40; ++size) {
    double last = 0;
    for (const double start : {1e6, 16384.0, 256.0}) {
      World world(algorithm.operation, size, 0, 1 << 20);
      const std::vector<Schedule> schedules = world.set_start(start).schedules(algorithm);
      const double rounds = critical_path(schedules, Matching(schedules)).rounds;
      EXPECT_EQ(rounds, cost_of(algorithm, size, world.bytes(), start).rounds) << size << " ranks, start " << start;
      EXPECT_GT(rounds, last) << size << " ranks, start " << start;
      last = rounds;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, PipelineCosts, testing::ValuesIn(algorithms_where(is_pipelined)), name_of);

/// Formulas as the papers have them, beside the ones that the planner uses.
Cost path_of(Operation operation, std::string_view name, int size, std::size_t count) {
  const std::vector<Schedule> schedules = World(operation, size, 0, count).schedules(*find_algorithm(operation, name));
  return critical_path(schedules, Matching(schedules));
}
Cost busiest_of(Operation operation, std::string_view name, int size, std::size_t count) {
  return busiest_rank(World(operation, size, 0, count).schedules(*find_algorithm(operation, name)));
}

TEST(Formulas, RingAllreduceTakesTwiceSizeLessOneStepsAndLeastBytes) {
  for (const int n : {2, 3, 8, 31, 64, 130}) {
    const std::size_t d = static_cast<std::size_t>(n) * 6;
    EXPECT_EQ(path_of(Operation::allreduce, "ring", n, d).rounds, 2 * (n - 1));
    EXPECT_EQ(path_of(Operation::allreduce, "ring", n, d).bytes, 2.0 * (n - 1) * static_cast<double>(d) / n);
    EXPECT_EQ(busiest_of(Operation::allreduce, "ring", n, d).bytes, 2.0 * (n - 1) * static_cast<double>(d) / n);
  }
}

TEST(Formulas, LogarithmicAlgorithmsTakeTheCeilingOfTheLogarithm) {
  for (int n = 2; n <= 130; ++n) {
    int log2 = 0;
    while ((1 << log2) < n) ++log2;
    int log4 = 0;
    while ((1 << (2 * log4)) < n) ++log4;
    EXPECT_EQ(path_of(Operation::barrier, "dissemination", n, 0).rounds, log2);
    EXPECT_EQ(path_of(Operation::barrier, "dissemination4", n, 0).rounds, log4);
    EXPECT_EQ(path_of(Operation::bcast, "binomial", n, 5).rounds, log2);
    EXPECT_EQ(path_of(Operation::bcast, "knomial", n, 5).rounds, log4);
    EXPECT_EQ(path_of(Operation::reduce, "knomial", n, 5).rounds, log4);
    EXPECT_EQ(path_of(Operation::allgather, "bruck", n, 2).rounds, log2);
    EXPECT_EQ(path_of(Operation::alltoall, "bruck4", n, 2).rounds, log4);
    EXPECT_EQ(path_of(Operation::allreduce, "reduce_bcast", n, 4).rounds, 2 * log2);
    EXPECT_EQ(path_of(Operation::scan, "recursive_doubling", n, 4).rounds, log2);
  }
}

TEST(Formulas, RabenseifnerOnPowersOfTwo) {
  for (int k = 1; k <= 7; ++k) {
    const int n = 1 << k;
    const std::size_t d = static_cast<std::size_t>(n) * 2;
    EXPECT_EQ(path_of(Operation::allreduce, "rabenseifner", n, d).rounds, 2 * k);
    EXPECT_EQ(busiest_of(Operation::allreduce, "rabenseifner", n, d).bytes, 4.0 * (n - 1));
    EXPECT_EQ(busiest_of(Operation::reduce_scatter_block, "recursive_halving", n, 3).bytes, 3.0 * (n - 1));
    EXPECT_EQ(busiest_of(Operation::reduce_scatter_block, "butterfly", n, 3).bytes, 3.0 * (n > 2 ? n : 1));
  }
}

TEST(Formulas, TwoTreesMoveTheDataOnceEachWay) {
  for (int n = 3; n <= 130; ++n) {
    const double d = 512;  // one chunk
    const auto count = static_cast<std::size_t>(d);
    EXPECT_EQ(busiest_of(Operation::bcast, "double_tree", n, count).bytes, d) << n;
    EXPECT_EQ(busiest_of(Operation::reduce, "double_tree", n, count).bytes, d) << n;
    EXPECT_LE(busiest_of(Operation::allreduce, "double_tree", n, count).bytes, 2 * d) << n;
    EXPECT_LE(path_of(Operation::bcast, "double_tree", n, count).rounds, ceil_log2(n) + 1) << n;
  }
}

TEST(Formulas, CirculantGraphsTakeTheLeastRoundsAndBytesForAnyNumberOfRanks) {
  for (int n = 2; n <= 130; ++n) {
    const std::size_t d = static_cast<std::size_t>(n) * 2;
    EXPECT_EQ(path_of(Operation::reduce_scatter_block, "circulant", n, 3).rounds, ceil_log2(n));
    EXPECT_EQ(busiest_of(Operation::reduce_scatter_block, "circulant", n, 3).bytes, 3.0 * (n - 1));
    EXPECT_EQ(busiest_of(Operation::allreduce, "circulant", n, d).bytes, 4.0 * (n - 1));
    EXPECT_EQ(path_of(Operation::bcast, "circulant", n, 5).rounds, ceil_log2(n));
  }
}

TEST(Formulas, BlocksInMessagesOfTheirOwnTakeTheLeastRoundsAndBytesAndNoCopy) {
  for (int n = 2; n <= 130; n += 2) {
    const std::size_t d = static_cast<std::size_t>(n) * 2;
    for (const char* name : {"sparbit", "bine_blocks"}) {
      EXPECT_EQ(path_of(Operation::reduce_scatter_block, name, n, 3).rounds, ceil_log2(n)) << name;
      EXPECT_EQ(busiest_of(Operation::reduce_scatter_block, name, n, 3).bytes, 3.0 * (n - 1)) << name;
      EXPECT_EQ(busiest_of(Operation::allreduce, name, n, d).bytes, 4.0 * (n - 1)) << name;
      EXPECT_EQ(path_of(Operation::allreduce, name, n, d).copied_bytes, 0) << name;
      EXPECT_EQ(path_of(Operation::allgather, name, n, 3).rounds, ceil_log2(n)) << name;
      EXPECT_EQ(busiest_of(Operation::allgather, name, n, 3).bytes, 3.0 * (n - 1)) << name;
    }
  }
}

TEST(Formulas, NeighborExchangeTakesHalfTheRing) {
  for (int n = 2; n <= 130; n += 2) {
    EXPECT_EQ(path_of(Operation::allgather, "neighbor_exchange", n, 5).rounds, n / 2);
    EXPECT_EQ(path_of(Operation::allgather, "neighbor_exchange", n, 5).bytes, 5.0 * (n - 1));
    EXPECT_EQ(path_of(Operation::allgather, "ring", n, 5).rounds, n - 1);
  }
}

TEST(Formulas, WaitingIsCounted) {
  // A chain of four: each rank sends and receives once, the last one waits for all.
  EXPECT_EQ(busiest_of(Operation::scan, "linear", 4, 10).bytes, 10);
  EXPECT_EQ(path_of(Operation::scan, "linear", 4, 10).bytes, 30);
  EXPECT_EQ(path_of(Operation::scan, "linear", 4, 10).rounds, 3);
}

}  // namespace
}  // namespace tutti::schedules
