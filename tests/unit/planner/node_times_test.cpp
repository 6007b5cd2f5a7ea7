// SPDX-License-Identifier: BSD-3-Clause
#include "call/node_times.hpp"

#include <gtest/gtest.h>

#include "machines.hpp"

namespace tutti::detail::test {
namespace {

/// The calls that were asked about.
std::vector<Signature>& asked() {
  static std::vector<Signature> all;
  return all;
}

/// A way that is slower the more elements it has, beside a slower and an excluded one.
std::vector<Candidate> three_ways(const Signature& call, const Machine& /*node*/) {
  asked().push_back(call);
  std::vector<Candidate> ways(3);
  ways[0].seconds = 2e-6 * static_cast<double>(call.count);
  ways[1].seconds = 1e-6 * static_cast<double>(call.count);
  ways[2].forbid("not here");
  return ways;
}

class NodesOfEight : public testing::Test {
 protected:
  NodesOfEight() { asked().clear(); }

 private:
  Cluster cluster_ = blocks(2, 8);
  Machine machine_ = cluster_.machine();
  Signature call_ = signature(Operation::allreduce, 16);

 protected:
  NodeTimes times_{call_, machine_, three_ways};
};

TEST_F(NodesOfEight, TimesAreThoseOfTheBestWayThatCanBeChosen) {
  EXPECT_DOUBLE_EQ(times_.seconds({Operation::bcast, 64}, 8), 16e-6);
  EXPECT_DOUBLE_EQ(times_.seconds({Operation::gather, 64 * 8}, 8), 16e-6) << "a block for each rank";
}

TEST_F(NodesOfEight, TimesOfOneExchangeAreAskedOnce) {
  for (const double bytes : {64.0, 128.0, 64.0, 128.0})
    for (const Operation operation : {Operation::reduce, Operation::bcast})
      EXPECT_DOUBLE_EQ(times_.seconds({operation, bytes}, 8), bytes / 4 * 1e-6);
  EXPECT_EQ(asked().size(), 4U);
}

TEST(NodeTimes, ASearchAsksForLessThanItsSchedulesHaveExchanges) {
  const Cluster cluster = blocks(8, 16);
  Machine machine = cluster.machine();
  machine.node_memory = {true, true, false};
  const Signature call = signature(Operation::allreduce, 2);
  asked().clear();
  Candidates all(call, machine, three_ways);
  std::size_t exchanges = 0;
  for (const schedules::Algorithm& algorithm : schedules::hierarchical_algorithms_of(call.operation)) {
    (void)all.predicted(algorithm);
    exchanges += algorithm.level_cost(wiring_of(machine).spread, 8).exchanges.size();
  }
  EXPECT_EQ(exchanges, 8U);
  EXPECT_EQ(asked().size(), 5U) << "reduce, bcast, reduce_scatter, allgatherv, gather";
}

}  // namespace
}  // namespace tutti::detail::test
