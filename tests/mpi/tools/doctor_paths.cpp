// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <set>

#include "support/standin/nccl.hpp"
#include "support/standin/runtime.hpp"
#include "tools/doctor/gather.hpp"
#include "tools/doctor/path_test.hpp"

/// The tests of paths on device memory, and after a failure, on a stand-in for CUDA and NCCL.
namespace tutti::test {
namespace {

using namespace tools::doctor;

int own_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// A device for each rank. Both objects outlive what MPI_Finalize frees.
standin::Runtime& runtime() {
  static standin::Runtime* const made = [] {
    constexpr int version = 22809;
    auto* runtime = new standin::Runtime();
    runtime->install();
    runtime->set_uuid(0, {static_cast<unsigned char>(own_rank() + 1)});
    auto* nccl = new standin::Nccl(*runtime, version);
    nccl->install();
    return runtime;
  }();
  return *made;
}

/// Results only, which take no time.
PathTests tests_of_device(Made& made) {
  RankFacts own;
  own.device = device_here();
  Communicator comm = make_communicator(made);
  prepare_device(comm, own, made);
  return test_paths(comm, made, PathEffort{.sizes = {8, 4096}, .slow = 3, .budget = 0});
}

std::vector<PathResult> failures_in(const PathTests& tests) {
  std::vector<PathResult> failed;
  std::ranges::copy_if(tests.results, std::back_inserter(failed), [](const auto& one) { return !one.problem.empty(); });
  return failed;
}

TEST(DoctorPaths, OfDeviceMemoryAreTested) {
  runtime();
  Made made;
  const PathTests tests = tests_of_device(made);
  EXPECT_TRUE(made.device_prepared) << made.device_report;
  std::set<Call> calls;
  for (const PathResult& one : tests.results) {
    EXPECT_EQ(one.problem, "") << call_name(one.call) << " " << one.way << " " << one.bytes;
    if (one.on_device) calls.insert(one.call);
  }
  EXPECT_EQ(calls.size(), 5U);
  EXPECT_EQ(tests.left, tests.results.size());
}

TEST(DoctorPaths, GoOnAfterAFailure) {
  // The last rank's first copy to its device.
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  runtime();
  MPI_Barrier(MPI_COMM_WORLD);
  if (own_rank() == size - 1) runtime().fail_next("copy");
  Made made;
  const PathTests tests = tests_of_device(made);
  const auto failed = failures_in(tests);
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_TRUE(failed[0].on_device);
  EXPECT_EQ(failed[0].problem.find("rank " + std::to_string(size - 1) + ": "), 0U) << failed[0].problem;
  const auto findings = path_findings(tests, 3);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].severity, Severity::error);
}

TEST(DoctorPaths, TheLowestProblemIsKnownToAll) {
  const int rank = own_rank();
  EXPECT_EQ(first_problem(""), "");
  EXPECT_EQ(first_problem("of " + std::to_string(rank)), "rank 0: of 0");
  const auto texts = gather_texts(std::string(static_cast<std::size_t>(rank), 'x'));
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i].size(), i);
  EXPECT_EQ(texts.empty(), rank != 0);
  std::vector<double> numbers{static_cast<double>(-rank), 1};
  take_greatest(numbers);
  EXPECT_EQ(numbers, (std::vector<double>{0, 1}));
  EXPECT_EQ(from_root(rank + 5), 5);
}

}  // namespace
}  // namespace tutti::test
