// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tutti/error.hpp>

#include "call/plan.hpp"
#include "schedules/registry.hpp"
#include "support.hpp"
#include "tools/answer.hpp"
#include "tools/rounds.hpp"

namespace {

using namespace tutti;
using namespace tutti::tools;
using schedules::Round;
using schedules::Schedule;
using schedules::Transfer;
using ::testing::HasSubstr;
using ::testing::Not;
using tools::testing::ask;

std::vector<RankTimes> predicted(const Answer& found) {
  return predicted_rounds(found.call, *found.plan->algorithm, schedules_of(found.call, *found.plan->algorithm));
}

double last_of(const std::vector<RankTimes>& ranks) { return std::ranges::max(ranks, {}, &RankTimes::end).end; }

/// What all ranks would measure, each moment `factor` times as late as predicted.
MeasuredCall measured(std::vector<RankTimes> ranks, double factor) {
  MeasuredCall made{.repeats = 3, .seconds = factor * last_of(ranks), .clocks = "one clock", .ranks = {}};
  for (RankTimes& one : ranks)
    for (double& end : one.ends) end *= factor;
  for (RankTimes& one : ranks) one.end *= factor;
  made.ranks = std::move(ranks);
  return made;
}

TEST(PredictedRounds, EveryRoundOfEveryAlgorithmEnds) {
  for (const Operation operation : all_operations)
    for (const int nodes : {1, 2})
      for (const bool shm : {true, false}) {
        auto what = ask(std::string(operation_name(operation)), operation == Operation::barrier ? "0" : "64KiB");
        what.ranks = 6;
        what.nodes = nodes;
        what.question.no_shm = !shm;
        for (const auto& candidate : answer(what.make()).candidates) {
          if (candidate.algorithm == nullptr || !candidate.nameable) continue;
          what.question.algorithm = candidate.name;
          const Answer found = answer(what.make());
          const auto rounds = schedules_of(found.call, *candidate.algorithm);
          const auto ranks = predicted(found);
          ASSERT_EQ(ranks.size(), rounds.size());
          for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
            EXPECT_EQ(ranks[rank].ends.size(), rounds[rank].rounds.size()) << candidate.name << " of rank " << rank;
            EXPECT_TRUE(std::ranges::is_sorted(ranks[rank].ends)) << candidate.name;
          }
          EXPECT_GT(last_of(ranks), 0) << candidate.name;
        }
      }
}

TEST(PredictedRounds, AddUpToTheModelsTime) {
  for (const char* algorithm : {"ring", "recursive_doubling", "hierarchical"})
    for (const char* bytes : {"64", "1MiB"}) {
      auto what = ask("allreduce", bytes, algorithm);
      what.nodes = algorithm == std::string("hierarchical") ? 2 : 1;
      const Answer found = answer(what.make());
      const double ratio = last_of(predicted(found)) / found.chosen()->seconds;
      EXPECT_GT(ratio, 0.6) << algorithm << " of " << bytes;
      EXPECT_LT(ratio, 1.6) << algorithm << " of " << bytes;
    }
}

TEST(PredictedRounds, OfAPhaseOnANodeAreAnExchangeOfAllItsRanks) {
  auto what = ask("allreduce", "1MiB", "hierarchical");
  what.nodes = 2;
  const Answer found = answer(what.make());
  const auto ranks = predicted(found);
  EXPECT_EQ(ranks[0].ends.front(), ranks[1].ends.front());
  EXPECT_EQ(ranks[2].ends.front(), ranks[3].ends.front());
  const auto value = nlohmann::json::parse(answer_json(found, true));
  EXPECT_EQ(value["schedule"]["rounds"][0]["exchange"]["operation"], "reduce");
  EXPECT_TRUE(value["schedule"]["rounds"][0]["transfers"].empty());
  EXPECT_FALSE(value["schedules"][2]["rounds"][0]["transfers"].empty()) << "a drawing has messages";
}

TEST(PredictedRounds, OfARingAreAlikeOnOneNodeAndLongerBetweenNodes) {
  auto what = ask("allreduce", "64", "ring");
  const auto near = predicted(answer(what.make()));
  for (const RankTimes& one : near) EXPECT_NEAR(one.end, near[0].end, 1e-12);
  what.nodes = 2;
  EXPECT_GT(last_of(predicted(answer(what.make()))), last_of(near));
}

TEST(PredictedRounds, AReceiverWaitsForTheRoundOfItsSender) {
  const Answer found = answer(ask("bcast", "1MiB", "binomial").make());
  const auto ranks = predicted(found);
  const auto all = schedules_of(found.call, *found.plan->algorithm);
  for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
    const auto& first = all[rank].rounds.front();
    ASSERT_EQ(first.transfers.front().kind, Transfer::Kind::recv);
    EXPECT_GT(ranks[rank].ends.front(), 0);
  }
  EXPECT_GT(ranks[3].ends.front(), ranks[2].ends.front()) << "rank 3 has its data from rank 2";
}

/// Links of one level whose messages of more than 1 KiB wait for their receivers.
class WithEager final : public detail::Measurements {
 public:
  [[nodiscard]] std::optional<double> seconds(const detail::Signature&, std::string_view) const override {
    return std::nullopt;
  }
  [[nodiscard]] const detail::Links* links() const override {
    static const detail::Links links = [] {
      detail::Links made;
      made[detail::LinkLevel::node] = {.latency = 1e-6,
                                       .overhead = 1e-7,
                                       .rate = 1e9,
                                       .several_rate = 1e9,
                                       .shared_rate = 1e12,
                                       .long_latency = 2e-6,
                                       .eager = 1024};
      return made;
    }();
    return &links;
  }
};

Round one_message(Transfer::Kind kind, int peer, std::size_t count) {
  Round round;
  round.transfers.push_back({.kind = kind, .peer = peer, .slice = {.count = count}});
  return round;
}

/// When rank 0 is done, which sends so many floats to rank 1 while that waits for a mebibyte of rank 2.
double end_of_sender(std::size_t count) {
  Case call = ask("allreduce", "1MiB", "ring").make();
  call.surroundings.table = std::make_shared<const WithEager>();
  std::vector<Schedule> all(4);
  all[0].rounds = {one_message(Transfer::Kind::send, 1, count)};
  all[1].rounds = {one_message(Transfer::Kind::recv, 2, 1U << 18U), one_message(Transfer::Kind::recv, 0, count)};
  all[2].rounds = {one_message(Transfer::Kind::send, 1, 1U << 18U)};
  return predicted_rounds(call, schedules::algorithms_of(Operation::allreduce).front(), all)[0].end;
}

TEST(PredictedRounds, ALongMessageWaitsForItsReceiver) {
  EXPECT_NEAR(end_of_sender(256), 1e-6 + 1024e-9, 1e-8) << "a short one does not";
  EXPECT_NEAR(end_of_sender(512), 2e-6 + (1U << 20U) * 1e-9 + 2e-6 + 2048e-9, 1e-8);
}

TEST(PredictedRounds, StandBesideTheMeasuredOnes) {
  Answer found = answer(ask("allreduce", "1KiB", "ring").make());
  const auto expected = predicted(found);
  add_measured(found, measured(expected, 2));
  const std::string text = answer_text(found);
  EXPECT_THAT(text, HasSubstr("the median of 3 calls; one clock"));
  EXPECT_THAT(text, HasSubstr("2.00"));
  const auto value = nlohmann::json::parse(answer_json(found))["measured"];
  ASSERT_EQ(value["ranks"].size(), 4U);
  for (const auto& rank : value["ranks"]) {
    ASSERT_EQ(rank["rounds"].size(), 6U);
    for (const auto& round : rank["rounds"])
      EXPECT_NEAR(round["seconds"].get<double>(), 2 * round["predicted_seconds"].get<double>(), 1e-15);
  }
  EXPECT_FALSE(
      nlohmann::json::parse(answer_json(answer(ask("allreduce", "1KiB", "ring").make()))).contains("measured"));
}

TEST(PredictedRounds, OfAnotherScheduleAreRefused) {
  Answer found = answer(ask("allreduce", "1KiB", "ring").make());
  auto other = predicted(found);
  other[2].ends.pop_back();
  try {
    add_measured(found, measured(other, 1));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 2 had 5 rounds, and its schedule has 6"));
  }
}

TEST(PredictedRounds, AreMissingWhereTheCallHasNoMessages) {
  Answer found = answer(ask("allreduce", "1KiB", "shm:slots").make());
  add_measured(found, measured(std::vector<RankTimes>(4), 1));
  EXPECT_THAT(answer_text(found), HasSubstr("measured as a whole"));
  EXPECT_THAT(answer_text(found), Not(HasSubstr("begins at")));
}

}  // namespace
