// SPDX-License-Identifier: BSD-3-Clause
#include "call/trial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "call/plan.hpp"
#include "planner/planner.hpp"

namespace tutti::detail {
namespace {

std::shared_ptr<const Plan> way(const char* name, double expected = 1e-6) {
  auto plan = std::make_shared<Plan>();
  plan->way = name;
  plan->expected = expected;
  return plan;
}

using Times = std::map<std::string, double>;

/// Judges a heat by the times of this rank.
void judge(Trial& trial) {
  std::vector<double> times(trial.rivals());
  trial.write_times(times);
  trial.judge(times);
}

/// Makes calls that take these times until the trial is over, and counts them by way.
std::map<std::string, int> run(Trial& trial, const Times& times) {
  std::map<std::string, int> calls;
  for (int i = 0; i < 10000 && !trial.winner(); ++i) {
    const std::string name = trial.way()->way;
    ++calls[name];
    if (trial.note(times.at(name))) judge(trial);
  }
  return calls;
}

TEST(Trial, BeginsAfterManyCalls) {
  Trial trial({way("a"), way("b")});
  for (std::size_t i = 0; i < Trial::settled_calls; ++i) {
    EXPECT_EQ(trial.way()->way, "a");
    EXPECT_FALSE(trial.measures());
    EXPECT_FALSE(trial.note(0));
  }
  EXPECT_FALSE(trial.winner());
}

TEST(Trial, TheFirstCallsOfATurnAreNotMeasured) {
  Trial trial({way("a"), way("b")});
  for (std::size_t i = 0; i < Trial::settled_calls; ++i) (void)trial.note(0);
  for (const char* name : {"a", "b"})
    for (std::size_t i = 0; i < Trial::warm_calls + Trial::measured_calls; ++i) {
      EXPECT_EQ(trial.way()->way, name);
      EXPECT_EQ(trial.measures(), i >= Trial::warm_calls) << "call " << i << " of " << name;
      (void)trial.note(1e-6);
    }
}

TEST(Trial, TheFastestWins) {
  Trial trial({way("a"), way("b"), way("c")});
  (void)run(trial, {{"a", 2e-6}, {"b", 1.7e-6}, {"c", 1.9e-6}});
  ASSERT_TRUE(trial.winner());
  EXPECT_EQ(trial.winner()->way, "b");
}

TEST(Trial, ASmallGainIsNoReasonToChange) {
  Trial trial({way("a"), way("b")});
  (void)run(trial, {{"a", 1.03e-6}, {"b", 1e-6}});
  EXPECT_EQ(trial.winner()->way, "a");
}

TEST(Trial, AHopelessWayMakesFewCalls) {
  Trial trial({way("a"), way("b"), way("c")});
  const auto calls = run(trial, {{"a", 1e-6}, {"b", 1e-3}, {"c", 1e-6}});
  EXPECT_EQ(calls.at("b"), static_cast<int>(Trial::warm_calls + Trial::measured_calls));
  EXPECT_GT(calls.at("c"), calls.at("b"));
}

TEST(Trial, OutliersAndTheFirstCallsOfATurnDoNotCount) {
  Trial trial({way("a"), way("b")});
  int call = 0;
  while (!trial.winner()) {
    const bool is_b = trial.way()->way == "b";
    // What is not measured is slow, and so is each fifth call.
    const double seconds = !trial.measures() || ++call % 5 == 0 ? 1.0 : is_b ? 1e-6 : 2e-6;
    if (trial.note(seconds)) judge(trial);
  }
  EXPECT_EQ(trial.winner()->way, "b");
}

TEST(Trial, ThePredictedWayMakesTheCallsUntilAHeatIsJudged) {
  Trial trial({way("a"), way("b")});
  while (!trial.note(trial.way()->way == "a" ? 2e-6 : 1e-6)) continue;
  for (int call = 0; call < 1000; ++call) {
    EXPECT_EQ(trial.way()->way, "a");
    EXPECT_FALSE(trial.measures());
    EXPECT_FALSE(trial.note(1));
  }
  std::vector<double> times(trial.rivals());
  trial.write_times(times);
  EXPECT_EQ(times, (std::vector<double>{2e-6, 1e-6}));
}

TEST(Trial, TheSlowestRankDecides) {
  Trial trial({way("a"), way("b")});
  while (!trial.winner()) {
    if (!trial.note(1e-6)) continue;
    const std::vector<double> slowest{3e-6, 2e-6};
    trial.judge(std::span(slowest).first(trial.rivals()));
  }
  EXPECT_EQ(trial.winner()->way, "b");
}

TEST(Trial, IsSurprisedByTimesFarFromThePrediction) {
  Trial as_told({way("a", 1e-6), way("b", 1e-6)});
  (void)run(as_told, {{"a", 2e-6}, {"b", 2e-6}});
  EXPECT_FALSE(as_told.surprises());
  Trial otherwise({way("a", 1e-6), way("b", 1e-6)});
  (void)run(otherwise, {{"a", 4e-6}, {"b", 2e-6}});
  EXPECT_TRUE(otherwise.surprises());
  Trial faster({way("a", 4e-6), way("b", 1e-6)});
  (void)run(faster, {{"a", 1e-6}, {"b", 1e-6}});
  EXPECT_TRUE(faster.surprises());
}

Machine one_node() {
  Machine machine;
  machine.size = 2;
  machine.shared_memory = true;
  machine.single_copy = true;
  return machine;
}

Signature moved(std::size_t count) {
  Signature s;
  s.operation = Operation::bcast;
  s.type = DatatypeKind::float32;
  s.count = count;
  return s;
}

TEST(WaysToTry, ThePredictedOneComesFirst) {
  const Signature s = moved(4096);
  const auto ways = ways_to_try(s, one_node());
  ASSERT_GT(ways.size(), 1U);
  EXPECT_EQ(ways.front()->way, make_plan(s, one_node())->way);
}

TEST(WaysToTry, NothingIsTriedThatWasDecidedOtherwise) {
  Signature s = moved(4096);
  s.reproducible = true;
  EXPECT_TRUE(ways_to_try(s, one_node()).empty());
  s = moved(4096);
  s.algorithm = "shm:slots";
  EXPECT_TRUE(ways_to_try(s, one_node()).empty());
  s = moved(4096);
  s.kind = CallKind::nonblocking;
  EXPECT_TRUE(ways_to_try(s, one_node()).empty());
}

TEST(WaysToTry, AReductionKeepsItsOrder) {
  Signature s = moved(4096);
  s.operation = Operation::allreduce;
  Machine many = one_node();
  many.size = 64;
  for (const Machine& machine : {one_node(), many})
    for (const auto& plan : ways_to_try(s, machine)) {
      EXPECT_EQ(plan->way.substr(0, 4), "shm:") << plan->way;
      EXPECT_NE(plan->way, "shm:tree");
    }
}

std::vector<std::string> names_of(const std::vector<std::shared_ptr<const Plan>>& ways) {
  std::vector<std::string> names;
  for (const auto& plan : ways) names.push_back(plan->way);
  return names;
}

// The root of a short bcast gives and goes on; by a single copy or by messages it could wait for the others.
TEST(WaysToTry, ARankThatGivesAtOnceTriesNoWayThatWaits) {
  for (const Operation operation : {Operation::bcast, Operation::reduce, Operation::gather, Operation::scatter,
                                    Operation::scan, Operation::alltoallv})
    for (const std::size_t count : {1U, 256U, 1024U}) {
      Signature s = moved(count);
      s.operation = operation;
      for (const std::string& name : names_of(ways_to_try(s, one_node()))) {
        EXPECT_EQ(name.substr(0, 4), "shm:") << name;
        EXPECT_NE(name, "shm:single_copy") << count;
      }
    }
}

TEST(WaysToTry, WaysThatWaitAreTriedWhereThePredictedOneWaitsOrAllRanksMeet) {
  const std::vector<std::string> names = names_of(ways_to_try(moved(262144), one_node()));
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(names.front(), "shm:single_copy");
  EXPECT_GT(names.size(), 1U);
  Signature s = moved(1024);
  s.operation = Operation::allgather;
  const std::vector<std::string> rivals = names_of(ways_to_try(s, one_node()));
  EXPECT_TRUE(std::any_of(rivals.begin(), rivals.end(), [](const auto& name) { return name.substr(0, 4) == "mpi:"; }));
}

}  // namespace
}  // namespace tutti::detail
