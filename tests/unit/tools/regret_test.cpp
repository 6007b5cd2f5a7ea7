// SPDX-License-Identifier: BSD-3-Clause
#include "tools/regret.hpp"
#include "tools/race.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tools/regret_report.hpp"

namespace {

using namespace tutti;
using namespace tutti::detail::tuning;
using detail::CallKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using tools::RegretReport;

std::vector<double> numbers(int count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

Regret regret(double ratio, Interval interval) {
  Regret made;
  made.target = {Operation::bcast, CallKind::blocking, DatatypeKind::float32, 4096};
  made.chosen = "shm:single_copy";
  made.best = ratio > 1 ? "shm:slots" : made.chosen;
  made.ratio = ratio;
  made.interval = interval;
  made.confirmed = ratio > believed;
  made.seconds = {{"shm:single_copy", ratio * 1e-6}, {"shm:slots", 1e-6}};
  return made;
}

TEST(Interval, HasTheRanksOfTheSignTest) {
  // From tables of the binomial distribution: the d-th smallest and largest of n values, at 95 %.
  const std::pair<int, int> tables[] = {{6, 1}, {9, 2}, {15, 4}, {20, 6}, {50, 18}, {100, 40}};
  for (const auto& [count, place] : tables) {
    const Interval found = interval_of(numbers(count));
    EXPECT_EQ(found.low, place) << count;
    EXPECT_EQ(found.high, count + 1 - place) << count;
  }
}

TEST(Interval, FewValuesGiveTheirRange) {
  for (const int count : {1, 2, 5}) {
    const Interval found = interval_of(numbers(count));
    EXPECT_EQ(found.low, 1);
    EXPECT_EQ(found.high, count);
  }
}

TEST(Interval, AnyNumberOfValuesHasOne) {
  for (const int count : {1074, 1999, 5000}) {
    const Interval found = interval_of(numbers(count));
    EXPECT_LE(found.low, found.high);
  }
}

TEST(Interval, AnOutlierOrTwoDoNotMoveIt) {
  std::vector<double> values(9, 1.0);
  values[4] = 100;
  EXPECT_EQ(interval_of(values).high, 1.0);
}

TEST(Regret, IsAgainstTheFastestOfTheEntrants) {
  std::vector<Contender> contenders(3);
  contenders[0].name = "chosen";
  contenders[0].seconds = {2, 2, 6, 2, 2};
  contenders[1].name = "slower";
  contenders[1].seconds = {4, 4, 4, 4, 4};
  contenders[2].name = "fastest";
  contenders[2].seconds = {1, 9, 1, 1, 1};
  Regret found;
  compare_with_best(found, {&contenders[0], &contenders[1], &contenders[2]});
  EXPECT_EQ(found.best, "fastest");
  EXPECT_EQ(found.ratio, 2) << "the median of the ratios of the rounds";
  EXPECT_EQ(found.interval.high, 6);
  compare_with_best(found, {&contenders[0], &contenders[1]});
  EXPECT_EQ(found.best, "chosen");
  EXPECT_EQ(found.ratio, 1);
}

TEST(RegretSummary, CountsAndAverages) {
  const RegretSummary found =
      summary_of({regret(1, {1, 1}), regret(1.1, {1, 1.2}), regret(2, {1.8, 2.2}), regret(1.25, {0.9, 1.5})});
  EXPECT_EQ(found.cells, 4U);
  EXPECT_EQ(found.near, 2U);
  EXPECT_EQ(found.certain, 1U);
  EXPECT_NEAR(found.mean, std::pow(1.1 * 2 * 1.25, 0.25), 1e-12);
  EXPECT_EQ(summary_of({}).mean, 1);
}

TEST(RegretReport, ShowsTheWorstFirst) {
  RegretReport report;
  report.regrets = {regret(1, {1, 1}), regret(2, {1.8, 2.2})};
  sort_worst_first(report.regrets);
  const std::string all = tools::regret_text(report, 9);
  EXPECT_THAT(all, HasSubstr("2.00   1.80 - 2.20 *"));
  EXPECT_THAT(all, HasSubstr("1.00   1.00 - 1.00"));
  EXPECT_THAT(all, HasSubstr("in 1 of 2 cells (50.0 %), and certainly longer in 1; the worst: 2.00, bcast blocking"));
  EXPECT_THAT(all, HasSubstr("geometric mean 1.414"));
  EXPECT_THAT(all, Not(HasSubstr("left")));
  report.left = 3;
  const std::string one = tools::regret_text(report, 1);
  EXPECT_THAT(one, Not(HasSubstr("1.00 - 1.00")));
  EXPECT_THAT(one, HasSubstr("of 2 cells"));
  EXPECT_THAT(one, HasSubstr("3 cells left"));
  EXPECT_EQ(tools::regret_text({}, 9), "no cell was measured\n");
}

TEST(RegretReport, JsonHasTheTimesOfAllWays) {
  RegretReport report;
  report.regrets = {regret(2, {1.8, 2.2})};
  const auto value = nlohmann::json::parse(tools::regret_json(report));
  const auto& cell = value.at("cells").at(0);
  EXPECT_EQ(cell.at("operation"), "bcast");
  EXPECT_EQ(cell.at("kind"), "blocking");
  EXPECT_EQ(cell.at("bytes"), 4096);
  EXPECT_EQ(cell.at("chosen"), "shm:single_copy");
  EXPECT_EQ(cell.at("best"), "shm:slots");
  EXPECT_EQ(cell.at("seconds").size(), 2U);
  EXPECT_TRUE(cell.at("confirmed"));
  EXPECT_FALSE(cell.contains("type")) << "a bcast does not combine";
  EXPECT_EQ(value.at("summary").at("certainly_slower"), 1);
}

TEST(RegretTargets, CallsWhoseSizeOnlySomeKnowHaveOneTargetPerSize) {
  Scope scope;
  scope.operations = {Operation::alltoallv, Operation::barrier, Operation::bcast};
  scope.kinds = {CallKind::blocking};
  scope.sizes = {4, 65536};
  std::vector<std::string> found;
  for (const Target& target : sized_targets_of(scope, 2)) found.push_back(describe(target));
  std::ranges::sort(found);
  EXPECT_THAT(found, ElementsAre("alltoallv blocking 4 B", "alltoallv blocking 65536 B", "barrier blocking",
                                 "bcast blocking 4 B", "bcast blocking 65536 B"));
}

TEST(Targets, HoldWholeElements) {
  Scope scope;
  scope.operations = {Operation::allreduce};
  scope.kinds = {CallKind::blocking};
  scope.types = {DatatypeKind::float32, DatatypeKind::float64};
  scope.sizes = {4, 8, 12};
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (const Target& target : targets_of(scope, 2)) found.emplace_back(target.type.size(), target.bytes);
  std::ranges::sort(found);
  EXPECT_EQ(found, (std::vector<std::pair<std::size_t, std::size_t>>{{4, 4}, {4, 8}, {4, 12}, {8, 8}}));
}

TEST(Contender, ItsFigureIsOfTheRoundsInWhichAllRanksRan) {
  detail::tuning::Contender contender;
  contender.seconds = {1, 50, 2, 60, 3, 70, 80};
  contender.lost = {0, 0.9, 0.05, 0.5, 0, 0.4, 0.8};
  EXPECT_EQ(contender.calm_rounds(), 3U);
  EXPECT_EQ(contender.calm_seconds(), (std::vector<double>{1, 2, 3}));
  contender.lost.assign(7, 1.0);
  EXPECT_EQ(contender.calm_rounds(), 0U);
  EXPECT_EQ(contender.calm_seconds(), contender.seconds);
}

}  // namespace
