// SPDX-License-Identifier: BSD-3-Clause
// TUTTI_ALGORITHM is read once a process: ctest runs this program once with each text, and TUTTI_TEST_OVERRIDE tells
// which.
#include <cstdlib>
#include <string_view>

#include "support.hpp"

namespace tutti::test {
namespace {

bool is_run_for(std::string_view text) {
  const char* given = std::getenv("TUTTI_TEST_OVERRIDE");
  return given != nullptr && text == given;
}

/// The plan that calls of a communicator have made; a plan that was not made is a failure.
std::shared_ptr<const detail::Plan> plan_made(const Communicator& comm, detail::Signature signature,
                                              const char* algorithm) {
  signature.algorithm = algorithm;
  return comm.state()->plans.get(signature, [&](const detail::Signature&) {
    ADD_FAILURE() << "no call by algorithm '" << algorithm << "' was made";
    return std::make_shared<const detail::Plan>();
  });
}

TEST(Override, DecidesCallsThatNameNothing) {
  if (!is_run_for("ring")) GTEST_SKIP() << "another text";
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  expect_allreduce_works(comm, 100);
  const auto plan = plan_made(comm, allreduce_signature(100), "ring");
  ASSERT_NE(plan->algorithm, nullptr);
  EXPECT_EQ(plan->algorithm->name, "ring");
}

TEST(Override, YieldsToTheCallsOwn) {
  if (!is_run_for("ring")) GTEST_SKIP() << "another text";
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  std::vector<float> x(100, 1.0F);
  allreduce(comm, x, sum, {.algorithm = "direct"});
  EXPECT_EQ(plan_made(comm, allreduce_signature(100), "direct")->algorithm->name, "direct");
}

TEST(Override, ThatCannotKeepTheOrderIsAnError) {
  if (!is_run_for("unsuitable")) GTEST_SKIP() << "another text";
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD, {.reproducible = true});
  std::vector<float> x(100, 1.0F);
  try {
    allreduce(comm, x, sum);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_algorithm);
    EXPECT_NE(std::string(e.what()).find("rabenseifner"), std::string::npos) << e.what();
  }
  expect_allreduce_works(Communicator::duplicate(MPI_COMM_WORLD), 100);
}

TEST(Override, ThatIsMisspeltIsRefusedByAll) {
  if (!is_run_for("misspelt")) GTEST_SKIP() << "another text";
  const std::string error = factory_error();
  EXPECT_NE(error.find("'rign'; valid: ring, "), std::string::npos) << error;
  expect_same_everywhere(error);
}

TEST(Override, ThatRanksDisagreeOnIsRefusedByAll) {
  if (std::getenv("TUTTI_TEST_OVERRIDE") != nullptr) GTEST_SKIP() << "only without a text";
  if (world_rank() != 0) ::setenv("TUTTI_ALGORITHM", "no such text", 1);
  const std::string error = factory_error();
  ::unsetenv("TUTTI_ALGORITHM");
  EXPECT_NE(error.find("TUTTI_ALGORITHM"), std::string::npos) << error;
  EXPECT_NE(error.find("equal on all ranks"), std::string::npos) << error;
  expect_same_everywhere(error);
  expect_allreduce_works(Communicator::duplicate(MPI_COMM_WORLD), 100);
}

}  // namespace
}  // namespace tutti::test
