// SPDX-License-Identifier: BSD-3-Clause
#include "call/trial.hpp"
#include "support.hpp"

namespace tutti::test {
namespace {

using detail::Trial;

constexpr std::size_t all_calls = Trial::settled_calls + 6 * Trial::heats * (Trial::warm_calls + Trial::measured_calls);

detail::Signature bcast_signature(std::size_t count) {
  detail::Signature signature;
  signature.operation = Operation::bcast;
  signature.type = DatatypeKind::float32;
  signature.count = count;
  return signature;
}

/// Broadcasts whose data depend on the call, until a trial must be over.
void broadcast_often(const Communicator& comm, std::size_t count) {
  std::vector<float> x(count);
  for (std::size_t call = 0; call < all_calls; ++call) {
    const int root = 0;
    const auto value = [call](std::size_t i) { return static_cast<float>(call % 1000 * 16 + i % 16); };
    for (std::size_t i = 0; i < count; ++i) x[i] = comm.rank() == root ? value(i) : -1;
    bcast(comm, x, root);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(x[i], value(i)) << "call " << call << ", element " << i;
  }
}

// Each way makes some of the calls, and every one of them is right; the ranks end with the same way.
TEST(Trials, RanksAgreeOnTheWinnerAndAllResultsAreRight) {
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  const std::size_t count = 1024;
  broadcast_often(comm, count);
  const auto trial = comm.state()->trials.find(bcast_signature(count));
  if (comm.size() == 1) {
    EXPECT_FALSE(trial);
    return;
  }
  ASSERT_TRUE(trial);
  ASSERT_TRUE(trial->winner());
  expect_same_everywhere(trial->winner()->way);
}

TEST(Trials, flight::CallsAreNotCounted) {
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  if (comm.size() == 1) GTEST_SKIP() << "one rank has nothing to try";
  for (std::size_t call = 0; call < Trial::settled_calls; ++call) {
    float x = 1;
    bcast(comm, {&x, 1}, 0);
    ibcast(comm, {&x, 1}, 0).wait();
  }
  const auto trial = comm.state()->trials.find(bcast_signature(1));
  ASSERT_TRUE(trial);
  EXPECT_FALSE(trial->winner());
  EXPECT_FALSE(trial->measures()) << "the warm calls of the first turn come next";
}

TEST(Trials, ReproducibleCallsAreNeverTried) {
  CommunicatorOptions options;
  options.reproducible = true;
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD, options);
  for (int call = 0; call < 3; ++call) expect_allreduce_works(comm, 1024);
  detail::Signature signature = allreduce_signature(1024);
  signature.reproducible = true;
  EXPECT_FALSE(comm.state()->trials.find(signature));
}

// A plan is dropped when the cache is full; the trial goes on.
TEST(Trials, OutliveTheirPlans) {
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  if (comm.size() == 1) GTEST_SKIP() << "one rank has nothing to try";
  const auto find = [&comm] { return comm.state()->trials.find(allreduce_signature(64)); };
  expect_allreduce_works(comm, 64);
  const auto before = find();
  comm.state()->forget_plans();
  expect_allreduce_works(comm, 64);
  EXPECT_TRUE(before != nullptr && before == find());
}

}  // namespace
}  // namespace tutti::test
