// SPDX-License-Identifier: BSD-3-Clause
// The public algorithms.hpp: what it names can be asked for, and its first is what calls use.
#include "planner/candidates.hpp"
#include "support.hpp"

namespace tutti::test {
namespace {

std::string joined(const std::vector<CallAlgorithm>& all) {
  std::string text;
  for (const CallAlgorithm& one : all) text += one.name + (one.why_not.empty() ? "\n" : ": " + one.why_not + "\n");
  return text;
}

TEST(Algorithms, CanBeAskedForByName) {
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  const auto all = algorithms(comm, "allreduce", {.count = 100});
  ASSERT_FALSE(all.empty());
  expect_same_everywhere(joined(all));
  for (const CallAlgorithm& one : all) {
    if (!one.can_be_named) continue;
    std::vector<float> x(100, 1.0F);
    allreduce(comm, x, sum, {.algorithm = one.name});
    EXPECT_EQ(x, std::vector<float>(100, static_cast<float>(comm.size()))) << one.name;
  }
}

TEST(Algorithms, BeginWithTheChoice) {
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  for (const std::size_t count : {std::size_t{1}, std::size_t{100000}}) {
    const auto all = algorithms(comm, "bcast", {.count = count});
    detail::Signature signature = allreduce_signature(count);
    signature.operation = Operation::bcast;
    const auto candidates = detail::candidates(signature, comm.state()->machine());
    EXPECT_EQ(all.front().name, candidates.front().name);
    EXPECT_EQ(all.front().why_not, "");
    EXPECT_EQ(all.size(), candidates.size());
  }
}

TEST(Algorithms, DependOnTheFacts) {
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  const auto is_possible = [&](const char* operation, const CallFacts& facts, std::string_view name) {
    const auto all = algorithms(comm, operation, facts);
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
    return found != all.end() && found->can_be_named;
  };
  EXPECT_TRUE(is_possible("allreduce", {}, "native"));
  EXPECT_FALSE(is_possible("allreduce", {.form = CallForm::persistent}, "native"));
  EXPECT_FALSE(is_possible("allreduce", {.type = DatatypeKind::float16}, "native"));
  EXPECT_FALSE(is_possible("allreduce", {.op = ReduceKind::max}, "native"));
  EXPECT_TRUE(is_possible("alltoallv", {.count = 12345}, "mpi:pairwise"));
  for (const CallAlgorithm& one : algorithms(comm, "allgather", {.memory = MemoryKind::device}))
    EXPECT_NE(one.name.substr(0, 4), "shm:") << one.name;
}

TEST(Algorithms, OfAnUnknownOperationAreAnError) {
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  try {
    (void)algorithms(comm, "allreducev");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("alltoallv"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tutti::test
