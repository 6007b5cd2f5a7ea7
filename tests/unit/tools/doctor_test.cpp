// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "support/no_descriptors.hpp"
#include "tools/doctor/pattern.hpp"
#include "tools/doctor/report.hpp"
#include "tools/doctor/system_files.hpp"

namespace {

using namespace tutti::tools::doctor;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SystemFiles, Texts) {
  EXPECT_EQ(bracketed("always [madvise] never"), "madvise");
  EXPECT_EQ(bracketed("never"), "");
  EXPECT_EQ(bracketed("[x"), "");
  EXPECT_THAT(numbers_in("0-2,8\n"), ElementsAre(0, 1, 2, 8));
  EXPECT_THAT(numbers_in("x"), IsEmpty());
  EXPECT_EQ(limit_in("4096"), 4096U);
  EXPECT_EQ(limit_in("max"), unlimited);
  EXPECT_EQ(limit_in(""), unlimited);
  EXPECT_EQ(limit_in("9223372036854771712"), unlimited);
  EXPECT_EQ(field_of("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n", "Seccomp"), "2");
  EXPECT_EQ(field_of("Name:\tx\n", "CapEff"), "");
  EXPECT_EQ(first_line("/nowhere/at/all"), "");
}

TEST(SystemFiles, ControlGroups) {
  const auto lines = group_lines("4:memory:/a/b\n2:cpu,cpuacct:/\n0::/c\n");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0].controllers, ElementsAre("memory"));
  EXPECT_THAT(lines[1].controllers, ElementsAre("cpu", "cpuacct"));
  EXPECT_THAT(lines[2].controllers, IsEmpty());
  EXPECT_EQ(lines[2].path, "/c");
  EXPECT_THAT(group_folders("/m", "/a/b"), ElementsAre("/m/a/b", "/m/a", "/m"));
  EXPECT_THAT(group_folders("/m", "/"), ElementsAre("/m"));
}

TEST(Facts, SurviveJson) {
  RankFacts facts;
  facts.host = "a\xff";  // no UTF-8
  facts.shm = {true, true, 1, 2, 3, "full"};
  facts.limits.group_cores = 1.5;
  facts.limits.descriptors = 100;
  facts.limits.open_descriptors = 7;
  facts.processor.units = {1, 2};
  facts.variables = {{"TUTTI_SHM", "0"}};
  facts.doubts = {"doubt"};
  const RankFacts back = facts_from_json(facts_to_json(facts));
  EXPECT_EQ(back.shm.problem, "full");
  EXPECT_TRUE(back.shm.is_read_only);
  EXPECT_EQ(back.limits.file_bytes, unlimited);
  EXPECT_EQ(back.limits.group_cores, 1.5);
  EXPECT_EQ(back.limits.descriptors, 100U);
  EXPECT_EQ(back.limits.open_descriptors, 7U);
  EXPECT_EQ(back.processor.units, facts.processor.units);
  EXPECT_EQ(back.variables, facts.variables);
  EXPECT_EQ(back.doubts, facts.doubts);
}

TEST(Facts, CountDescriptors) {
  const Limits before = limits_here();
  {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/dev/null", "r"), std::fclose);
    EXPECT_EQ(limits_here().open_descriptors, before.open_descriptors + 1);
  }
  {
    const test::NoDescriptors none;
    EXPECT_EQ(limits_here().open_descriptors, limits_here().descriptors);
    EXPECT_NE(limits_here().descriptors, before.descriptors);
  }
  EXPECT_EQ(limits_here().open_descriptors, before.open_descriptors);
}

TEST(Facts, OfThisProcessNeedNoMpi) {
  const RankFacts facts = facts_of_this_process();
  EXPECT_FALSE(facts.host.empty());
  EXPECT_FALSE(facts.processor.units.empty());
  EXPECT_EQ(facts.processor.units.size(), facts.processor.cores.size());
  EXPECT_FALSE(facts.walls.processes.empty());
}

TEST(Pattern, ResultsFollowFromInputs) {
  constexpr int ranks = 3;
  constexpr std::size_t bytes = 600;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto gathered = output_after({Call::allgather, bytes, rank, ranks});
    const auto exchanged = output_after({Call::alltoall, bytes, rank, ranks});
    for (int from = 0; from < ranks; ++from) {
      const auto given = input_of({Call::allgather, bytes, from, ranks});
      EXPECT_TRUE(std::equal(given.begin(), given.end(), gathered.begin() + from * std::ptrdiff_t{bytes}));
      const auto blocks = input_of({Call::alltoall, bytes, from, ranks});
      EXPECT_TRUE(std::equal(blocks.begin() + rank * std::ptrdiff_t{bytes},
                             blocks.begin() + (rank + 1) * std::ptrdiff_t{bytes},
                             exchanged.begin() + from * std::ptrdiff_t{bytes}));
    }
    EXPECT_EQ(output_after({Call::bcast, bytes, rank, ranks}), input_of({Call::bcast, bytes, 0, ranks}));
    EXPECT_EQ(output_after({Call::sendrecv, bytes, rank, ranks}),
              input_of({Call::sendrecv, bytes, (rank + ranks - 1) % ranks, ranks}));
    float sum = 0;
    for (int from = 0; from < ranks; ++from) {
      float first = 0;
      std::memcpy(&first, input_of({Call::allreduce, bytes, from, ranks}).data(), sizeof first);
      sum += first;
    }
    float found = 0;
    std::memcpy(&found, output_after({Call::allreduce, bytes, rank, ranks}).data(), sizeof found);
    EXPECT_EQ(found, sum);
  }
}

TEST(Pattern, NoResultIsThereBefore) {
  for (const Call call : tested_calls) {
    const Trial trial{call, 64, 1, 2};
    EXPECT_NE(difference(output_before(trial), output_after(trial)), "") << call_name(call);
    EXPECT_EQ(difference(output_after(trial), output_after(trial)), "");
    EXPECT_EQ(output_before(trial).size(), output_bytes(trial));
    EXPECT_EQ(input_of(trial).size(), input_bytes(trial));
  }
  const std::vector<std::byte> right(4, std::byte{5});
  std::vector<std::byte> wrong = right;
  wrong[2] = std::byte{3};
  EXPECT_EQ(difference(wrong, right), "byte 2 of 4 is 3 instead of 5");
  EXPECT_EQ(difference({}, right), "0 bytes instead of 4");
}

PathResult result(const std::string& way, std::size_t bytes, double seconds, double usual,
                  const std::string& problem = "") {
  return {Call::allreduce, way, false, bytes, seconds, usual, problem, false};
}

Report report_of(std::vector<PathResult> results) {
  Report report;
  report.job.mpi = "MPICH";
  report.job.ranks.resize(2);
  report.tests.results = std::move(results);
  report.findings = path_findings(report.tests, report.slow);
  sort_by_severity(report.findings);
  return report;
}

TEST(PathFindings, AreOfWaysThatAreWrongOrSlow) {
  const Report report =
      report_of({result("shm:line", 8, 1e-6, 0.9e-6), result("shm:line", 4096, 3e-6, 2e-6),
                 result("mpi:ring", 8, 9e-6, 2e-6), result("mpi:ring", 4096, 1e-4, 1e-5), result("native", 8, 1, 0),
                 result("shm:slots", 8, 0, 1e-6, "rank 1: byte 2 is 3"), result("shm:parts", 8, 0.4e-6, 0.1e-6)});
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_EQ(report.findings[0].severity, Severity::error);
  EXPECT_THAT(report.findings[0].text, HasSubstr("shm:slots fails in 1 test: allreduce of 8 B: rank 1: byte 2 is 3"));
  EXPECT_EQ(report.findings[1].severity, Severity::slow);
  EXPECT_THAT(
      report.findings[1].text,
      HasSubstr("mpi:ring is slower than its model in 2 of 2 tests: allreduce of 4 KiB takes 100 us (10.0 times"));
}

TEST(PathFindings, AreFewWhereAllIsSlow) {
  PathTests tests;
  for (const char* way : {"shm:line", "shm:slots", "mpi:ring", "mpi:direct"})
    tests.results.push_back(result(way, 8, 1e-4, way[0] == 's' ? 1e-5 : 2e-5));
  ASSERT_EQ(path_findings(tests, 3).size(), 1U);
  EXPECT_THAT(path_findings(tests, 3)[0].text, HasSubstr("4 ways are slower than their models, most of all shm:"));
}

TEST(PathFindings, BlameOtherWork) {
  PathTests tests;
  tests.results = {result("mpi:ring", 8, 9e-6, 2e-6), result("mpi:ring", 4096, 3e-6, 2e-6)};
  tests.results[0].is_disturbed = true;
  const auto findings = path_findings(tests, 3);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].name, "disturbed");
  EXPECT_THAT(findings[0].text, HasSubstr("1 of 2 tests"));
  EXPECT_EQ(findings[0].severity, Severity::slow);
  for (int i = 0; i < 8; ++i) tests.results.push_back(result("mpi:ring", 64, 3e-6, 2e-6));
  EXPECT_EQ(path_findings(tests, 3)[0].severity, Severity::note);
}

TEST(PathFindings, JudgeNoTimesWithoutCalibration) {
  PathTests tests;
  tests.results = {result("mpi:ring", 8, 9e-6, 2e-6)};
  EXPECT_EQ(path_findings(tests, 3).size(), 1U);
  EXPECT_EQ(path_findings(tests, 5).size(), 0U);
  tests.why_not_compared = "ranks share cores";
  EXPECT_EQ(path_findings(tests, 3).size(), 0U);
}

TEST(DoctorReport, IsATable) {
  const std::string text = report_text(report_of(
      {result("shm:line", 8, 1e-6, 0.9e-6), result("mpi:ring", 8, 9e-6, 2e-6), result("mpi:ring", 4096, 1e-4, 9e-5)}));
  EXPECT_THAT(text, HasSubstr("2 ranks on 1 node, MPICH"));
  EXPECT_THAT(text, HasSubstr("slow   mpi:ring is slower"));
  EXPECT_THAT(text, HasSubstr("  ->   look for other work"));
  EXPECT_THAT(text, HasSubstr("slow: 4.5 times what is usual, at 8 B"));
  EXPECT_THAT(text, HasSubstr("0 errors, 1 thing is slow, 0 notes; 3 tests"));
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    EXPECT_LE(text.find('\n', at) - at, 130U) << text.substr(at, 140);
}

TEST(DoctorReport, IsJson) {
  Report report = report_of({result("shm:line", 8, 1e-6, 0.9e-6), result("mpi:ring", 8, 9e-6, 2e-6, "wrong \xff")});
  const auto value = nlohmann::json::parse(report_json(report));
  EXPECT_EQ(value["errors"], 1);
  EXPECT_EQ(value["slow"], 1);
  EXPECT_EQ(value["findings"][0]["severity"], "error");
  EXPECT_EQ(value["tests"][0]["result"], "ok");
  EXPECT_EQ(value["tests"][1]["result"], "error");
  EXPECT_EQ(value["facts"].size(), 2U);
}

}  // namespace
