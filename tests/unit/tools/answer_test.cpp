// SPDX-License-Identifier: BSD-3-Clause
#include "tools/answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <tutti/error.hpp>

#include "call/plan.hpp"
#include "planner/names.hpp"
#include "schedules/text.hpp"
#include "support.hpp"
#include "tools/backends.hpp"

namespace {

using namespace tutti;
using namespace tutti::tools;
using ::testing::HasSubstr;
using ::testing::Not;
using tools::testing::ask;

TEST(Answer, TheChoiceIsThePlannersFirst) {
  for (const char* bytes : {"8", "64KiB", "16MiB"})
    for (const int nodes : {1, 2}) {
      auto what = ask("allreduce", bytes);
      what.nodes = nodes;
      const Answer found = answer(what.make());
      ASSERT_FALSE(found.candidates.empty());
      EXPECT_EQ(found.chosen(), &found.candidates.front());
      EXPECT_THAT(answer_text(found), HasSubstr("Chosen: " + found.candidates.front().name + " ("));
      for (const auto& candidate : found.candidates) EXPECT_THAT(answer_text(found), HasSubstr(candidate.name));
    }
}

TEST(Answer, SaysWhyTheOthersAreNotChosen) {
  auto what = ask("allreduce", "1MiB");
  what.nodes = 2;
  const std::string text = answer_text(answer(what.make()));
  EXPECT_THAT(text, HasSubstr("the ranks do not share memory here"));
  EXPECT_THAT(text, HasSubstr("slower"));
  EXPECT_THAT(text, HasSubstr("waits inside MPI"));
}

TEST(Answer, TimesThatMeanNothingAreNotShown) {
  const Answer found = answer(ask("allreduce", "1MiB").make());
  for (const auto& candidate : found.candidates) {
    const bool is_unknown = candidate.name == "native" || candidate.name == "shm:line";
    if (is_unknown) {
      EXPECT_FALSE(has_time(candidate)) << candidate.name;
    }
  }
  EXPECT_TRUE(has_time(*found.chosen()));
}

TEST(Answer, ANamedAlgorithmIsShownAsItsSchedule) {
  auto what = ask("allreduce", "64", "ring");
  what.question.rank = 2;
  const Answer found = answer(what.make());
  EXPECT_EQ(found.chosen()->name, "mpi:ring");
  const std::string text = answer_text(found);
  EXPECT_THAT(text, HasSubstr("Chosen: mpi:ring (named by --algorithm)"));
  const auto schedules = schedules_of(found.call, *found.plan->algorithm);
  EXPECT_THAT(text, HasSubstr("Schedule of rank 2 (elements of 4 bytes)\n" + schedules::to_text(schedules[2])));
}

TEST(Answer, TheSchedulesAreThoseOfThePlan) {
  for (const auto operation : all_operations)
    for (const auto& algorithm : schedules::algorithms_of(operation)) {
      auto what = ask(std::string(operation_name(operation)), "64KiB", "mpi:" + std::string(algorithm.name));
      what.question.rank = 3;
      if (!schedules::fits(algorithm, what.ranks)) continue;
      const Answer found = answer(what.make());
      if (found.plan->schedule == nullptr) continue;
      EXPECT_EQ(schedules::to_text(schedules_of(found.call, algorithm)[3]), schedules::to_text(*found.plan->schedule))
          << operation_name(operation) << " " << algorithm.name;
    }
}

TEST(Answer, TheHostMpiCannotBeDrawn) {
  const Answer found = answer(ask("allreduce", "64", "native").make());
  EXPECT_THAT(answer_text(found), HasSubstr("rounds are those of the host MPI"));
  try {
    check_drawable(found);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("--algorithm"));
    EXPECT_THAT(error.what(), HasSubstr("ring"));
  }
}

TEST(Answer, UnknownAlgorithmsListTheValidOnes) {
  try {
    static_cast<void>(answer(ask("allreduce", "64", "rign").make()));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_algorithm);
    EXPECT_THAT(error.what(), HasSubstr("ring"));
  }
}

TEST(AnswerJson, HasWhatTheTextHas) {
  const Answer found = answer(ask("allreduce", "1KiB", "ring").make());
  const auto value = nlohmann::json::parse(answer_json(found));
  EXPECT_EQ(value["chosen"], "mpi:ring");
  EXPECT_EQ(value["call"]["bytes"], 1024);
  EXPECT_EQ(value["machine"]["ranks"], 4);
  EXPECT_EQ(value["candidates"].size(), found.candidates.size());
  EXPECT_EQ(value["schedule"]["rounds"].size(), 6U);
  EXPECT_EQ(value["schedule"]["rounds"][0]["locals"][0]["kind"], "reduce");
  const auto shm = nlohmann::json::parse(answer_json(answer(ask("allreduce", "1KiB", "shm:slots").make())));
  EXPECT_EQ(shm["steps"].size(), 2U);
  for (const auto& one : {value, shm})
    for (const char* name : {"schedules", "nodes", "layers", "moves"}) EXPECT_FALSE(one.contains(name)) << name;
}

TEST(Answer, SaysHowLargeDataAreCopied) {
  Case call = ask("allreduce", "1MiB", "shm:single_copy").make();
  EXPECT_THAT(answer_text(answer(call)), HasSubstr("yes, with single copy\n"));
  EXPECT_EQ(nlohmann::json::parse(answer_json(answer(call)))["machine"]["mapped_copy"], false);
  call.surroundings.mapped_copy = true;
  EXPECT_THAT(answer_text(answer(call)), HasSubstr("yes, with single copy by XPMEM\n"));
  EXPECT_EQ(nlohmann::json::parse(answer_json(answer(call)))["machine"]["mapped_copy"], true);
  EXPECT_THAT(backends_text(backend_table(call.surroundings)), HasSubstr("by XPMEM"));
}

Surroundings surroundings(bool shm) {
  Surroundings where = ask("barrier", "0").make().surroundings;
  where.shm = shm;
  return where;
}

const BackendTable::Row& row(const BackendTable& table, std::string_view operation) {
  for (const auto& one : table.rows)
    if (one.operation == operation) return one;
  throw std::invalid_argument("no such row");
}

TEST(Backends, SayWhatTheyCanDo) {
  const BackendTable table = backend_table(surroundings(true));
  EXPECT_EQ(table.rows.size(), 17U) << "16 collectives, and point-to-point";
  const auto& allreduce = row(table, "allreduce");
  EXPECT_EQ(allreduce.host[0].support, Support::native);
  EXPECT_EQ(allreduce.host[1].support, Support::composed);
  EXPECT_EQ(allreduce.host[1].limits, "") << "every kind of call, datatype and reduction";
  EXPECT_EQ(allreduce.host[2].support, Support::native);
  EXPECT_THAT(allreduce.host[2].limits, HasSubstr("only blocking and nonblocking calls"));
  EXPECT_EQ(allreduce.host[3].support, Support::none) << "NCCL has no host memory";
  EXPECT_EQ(allreduce.device[0].support, Support::none);
  EXPECT_EQ(allreduce.device[3].support, Support::not_built);
}

TEST(Backends, ImagineADevice) {
  Surroundings where = surroundings(true);
  where.device = {.built = true, .kernels = true, .cuda_aware = true, .nccl_version = 22809, .nccl_report = {}};
  const BackendTable table = backend_table(where);
  EXPECT_EQ(row(table, "allreduce").device[3].support, Support::native);
  EXPECT_EQ(row(table, "alltoallv").device[3].support, Support::composed);
  EXPECT_EQ(row(table, "scan").device[1].support, Support::composed);
  EXPECT_EQ(row(table, "allreduce").device[4].support, Support::staged);
  EXPECT_EQ(row(table, "allreduce").device[4].limits, "") << "what nothing else makes is staged";
}

TEST(Backends, FollowTheMachine) {
  const BackendTable table = backend_table(surroundings(false));
  EXPECT_EQ(row(table, "allreduce").host[0].support, Support::absent);
  EXPECT_EQ(row(table, "allreduce").host[1].support, Support::composed);
}

TEST(Backends, AreATable) {
  const BackendTable table = backend_table(surroundings(true));
  const std::string text = backends_text(table);
  EXPECT_THAT(text, HasSubstr("backend "));
  EXPECT_THAT(text, HasSubstr("\nalltoallv "));
  EXPECT_THAT(text, HasSubstr("native*"));
  EXPECT_THAT(text, HasSubstr("* native, "));
  const auto value = nlohmann::json::parse(backends_json(table));
  EXPECT_EQ(value["operations"]["bcast"]["mpi"]["host"]["support"], "composed");
  EXPECT_EQ(value["operations"]["bcast"]["nccl"]["device"]["support"], "not built");
}

}  // namespace
