// SPDX-License-Identifier: BSD-3-Clause
#include "call/trial.hpp"

#include <array>
#include <functional>

#include "support.hpp"

namespace tutti::test {
namespace {

using detail::Trial;

/// Communicators hand their trials on, so that each test broadcasts another number of elements.
constexpr std::size_t all_calls = Trial::settled_calls + 6 * Trial::heats * (Trial::warm_calls + Trial::measured_calls);

detail::Signature bcast_signature(std::size_t count) {
  detail::Signature signature;
  signature.operation = Operation::bcast;
  signature.type = DatatypeKind::float32;
  signature.count = count;
  return signature;
}

/// Broadcasts whose data depend on the call, until a trial must be over. Heats are judged where all ranks meet.
void broadcast_often(const Communicator& comm, std::size_t count) {
  std::vector<float> x(count);
  for (std::size_t call = 0; call < all_calls; ++call) {
    const int root = 0;
    const auto value = [call](std::size_t i) { return static_cast<float>(call % 1000 * 16 + i % 16); };
    for (std::size_t i = 0; i < count; ++i) x[i] = comm.rank() == root ? value(i) : -1;
    bcast(comm, x, root);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(x[i], value(i)) << "call " << call << ", element " << i;
    if (call % 16 == 15) barrier(comm);
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

/// A call in which one rank only gives.
struct OneWay {
  const char* name;
  int giver;
  std::function<void(const Communicator& comm, std::vector<float>& x, std::vector<float>& all)> call;
};

std::vector<OneWay> one_way_calls(int size) {
  using Floats = std::vector<float>;
  const int last = size - 1;
  return {{"bcast", 0, [](const Communicator& comm, Floats& x, Floats& /*all*/) { bcast(comm, x, 0); }},
          {"scatter", 0, [](const Communicator& comm, Floats& x, Floats& all) { scatter(comm, all, x, 0); }},
          {"reduce", last,
           [](const Communicator& comm, Floats& x, Floats& all) {
             reduce(comm, x, std::span(all).first(x.size()), sum, 0);
           }},
          {"gather", last, [](const Communicator& comm, Floats& x, Floats& all) { gather(comm, x, all, 0); }},
          {"scan", 0, [](const Communicator& comm, Floats& x, Floats& all) {
             scan(comm, x, std::span(all).first(x.size()), sum);
           }}};
}

/// The giver makes its call and tells the others, which only then make theirs.
void give_before_others_come(const Communicator& comm, const OneWay& way, std::vector<float>& x,
                             std::vector<float>& all) {
  const MPI_Comm handle = comm.mpi_handle();
  int token = 0;
  if (comm.rank() != way.giver) MPI_Recv(&token, 1, MPI_INT, way.giver, 0, handle, MPI_STATUS_IGNORE);
  way.call(comm, x, all);
  if (comm.rank() != way.giver) return;
  for (int rank = 0; rank < comm.size(); ++rank)
    if (rank != way.giver) MPI_Send(&token, 1, MPI_INT, rank, 0, handle);
}

// No trial waits for ranks that a call needs not wait for: not at the end of a heat, and not by the ways that it tries.
TEST(Trials, RanksThatOnlyGiveWaitForNobody) {
  for (const std::size_t count : {1U, 1025U}) {
    const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
    std::vector<float> x(count, 1);
    std::vector<float> all(count * static_cast<std::size_t>(comm.size()), 1);
    for (const OneWay& way : one_way_calls(comm.size()))
      for (std::size_t call = 0; call < all_calls; ++call) {
        give_before_others_come(comm, way, x, all);
        if (call % 16 == 15) barrier(comm);
      }
  }
}

// The end of a heat makes nobody wait, whatever number of calls comes before the ranks meet.
TEST(Trials, AHeatWaitsForACallInWhichAllRanksMeet) {
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  if (comm.size() == 1) GTEST_SKIP() << "one rank has nothing to try";
  std::vector<float> x(1026, 1);
  std::vector<float> all;
  const OneWay way = one_way_calls(comm.size()).front();
  for (std::size_t call = 0; call < 2 * all_calls; ++call) give_before_others_come(comm, way, x, all);
  EXPECT_TRUE(comm.state()->trials.has_waiting());
  EXPECT_FALSE(comm.state()->trials.find(bcast_signature(1026))->winner());
  gather(comm, std::span(x).first(1), std::span(all = std::vector<float>(static_cast<std::size_t>(comm.size()))), 0);
  (void)allreduce(comm, std::span(x).first(0), std::span(x).first(0), sum);
  EXPECT_TRUE(comm.state()->trials.has_waiting()) << "nobody has met in calls without data";
  expect_allreduce_works(comm, 1);
  EXPECT_FALSE(comm.state()->trials.has_waiting());
}

// A call that is kept for its repetition judges heats, too.
TEST(Trials, AHeatIsJudgedInACallThatIsKept) {
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  if (comm.size() == 1) GTEST_SKIP() << "one rank has nothing to try";
  for (std::size_t call = 0; call < 2 * all_calls; ++call) barrier(comm);  // its own trial is over
  std::vector<float> x(1027, 1);
  for (std::size_t call = 0; call < 2 * all_calls; ++call) bcast(comm, x, 0);
  EXPECT_TRUE(comm.state()->trials.has_waiting());
  barrier(comm);
  EXPECT_FALSE(comm.state()->trials.has_waiting());
}

/// The trial of a broadcast that a new communicator has before any call; null: it has inherited none.
std::shared_ptr<Trial> inherited(const Communicator& comm, std::size_t count) {
  return comm.state()->trials.find(bcast_signature(count));
}

// A program may make a communicator for a few hundred calls again and again: one trial serves them all.
TEST(Trials, GoOnOnTheNextCommunicatorOfTheSameRanks) {
  const std::size_t count = 1000;
  const std::size_t calls = Trial::settled_calls + 20;
  int communicators = 0;
  for (; communicators < 20; ++communicators) {
    const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
    if (comm.size() == 1) GTEST_SKIP() << "one rank has nothing to try";
    const auto trial = inherited(comm, count);
    ASSERT_EQ(trial == nullptr, communicators == 0);
    if (trial && trial->winner()) break;
    std::vector<float> x(count, 1);
    for (std::size_t call = 0; call < calls; ++call) {
      bcast(comm, x, 0);
      if (call % 16 == 15) barrier(comm);
    }
    barrier(comm);  // no heat waits for a call in which the ranks meet
  }
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  const auto trial = inherited(comm, count);
  ASSERT_TRUE(trial && trial->winner()) << communicators << " communicators";
  expect_same_everywhere(trial->winner()->way);
  std::vector<float> x(count, static_cast<float>(comm.rank()));
  bcast(comm, x, comm.size() - 1);
  bcast(comm, x, 0);
  EXPECT_EQ(x.back(), static_cast<float>(comm.size() - 1));
}

// What one rank lacks no rank has.
TEST(Trials, AreNotHandedOnWhereRanksDiffer) {
  const std::size_t count = 1001;
  {
    const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
    if (comm.size() == 1) GTEST_SKIP() << "one rank has nothing to try";
    broadcast_often(comm, count);
  }
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  ASSERT_TRUE(inherited(comm, count));
  detail::Trials other;
  other.add(bcast_signature(100 * count), inherited(comm, count));  // which no test calls
  const auto left = comm.state()->known->heritage->left();
  if (comm.rank() == 0) comm.state()->known->heritage->leave(other, left.facts);
  EXPECT_FALSE(inherited(Communicator::duplicate(MPI_COMM_WORLD), count));
}

TEST(Trials, AreNotHandedOnToOtherRanks) {
  const std::size_t count = 1002;
  {
    const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
    if (comm.size() == 1) GTEST_SKIP() << "one rank has nothing to try";
    broadcast_often(comm, count);
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  EXPECT_FALSE(inherited(Communicator::adopt(reversed), count));
  EXPECT_TRUE(inherited(Communicator::duplicate(MPI_COMM_WORLD), count));
}

TEST(Trials, OtherCallsAreNotCounted) {
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  if (comm.size() == 1) GTEST_SKIP() << "one rank has nothing to try";
  for (std::size_t call = 0; call < Trial::settled_calls; ++call) {
    std::array<float, 3> x{};
    bcast(comm, x, 0);
    ibcast(comm, x, 0).wait();
  }
  const auto trial = comm.state()->trials.find(bcast_signature(3));
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
