// SPDX-License-Identifier: BSD-3-Clause
// Requests: several under way, persistent ones in any order, detached ones, and the progress that MPI programs rely on.
#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <tutti/request.hpp>
#include <utility>

#include "call/backoff.hpp"
#include "call/execution.hpp"
#include "support/exercise.hpp"

namespace tutti::test {
namespace {

const Communicator& world() { return communicators().front(); }
constexpr std::size_t count = 1'000;

std::vector<float> contribution(int iteration) {
  std::vector<float> data(count);
  for (std::size_t i = 0; i < count; ++i) data[i] = pattern<float>(world().rank(), i, iteration);
  return data;
}

std::vector<float> total(int iteration) {
  std::vector<float> data(count);
  for (std::size_t i = 0; i < count; ++i)
    data[i] = combined<float>(ReduceKind::sum, 0, world().size() - 1, i, iteration, world().size());
  return data;
}

/// Algorithms of several rounds, of one round, and the host MPI's: they are driven in different ways.
std::vector<std::string> kinds() { return {"", "ring", "recursive_doubling", "direct", "native"}; }

TEST(Request, IdenticalOnesAreSeparateRunsOfOnePlan) {
  for (const std::string& kind : kinds()) {
    Options options;
    options.algorithm = kind;
    constexpr int outstanding = 6;
    std::vector<std::vector<float>> data;
    std::vector<Request> requests;
    for (int k = 0; k < outstanding; ++k) data.push_back(contribution(k));
    for (int k = 0; k < outstanding; ++k)
      requests.push_back(iallreduce(world(), data[static_cast<std::size_t>(k)], sum, options));
    // Completion is asked for in another order on every rank.
    for (int k = 0; k < outstanding; ++k)
      requests[static_cast<std::size_t>((k * 5 + world().rank()) % outstanding)].wait();
    for (int k = 0; k < outstanding; ++k) EXPECT_EQ(data[static_cast<std::size_t>(k)], total(k)) << kind << " " << k;
  }
}

/// Takes a number of polls, and counts the sleeps of whoever waits for it.
class ManyPolls final : public detail::Execution {
 public:
  ManyPolls(int polls, int polls_a_move)
      : Execution(world().state(), std::chrono::nanoseconds{0}, false), polls_(polls), polls_a_move_(polls_a_move) {}
  [[nodiscard]] std::string name() const override { return "a test"; }
  [[nodiscard]] std::uint64_t moves() const noexcept override {
    return static_cast<std::uint64_t>(done_ / polls_a_move_);
  }
  void backoff() noexcept override { ++sleeps_; }
  [[nodiscard]] int sleeps() const { return sleeps_; }

 private:
  bool begin() override { return false; }
  bool step() override { return ++done_ == polls_; }
  void cancel() noexcept override {}

  int polls_;
  int polls_a_move_;
  int done_ = 0;
  int sleeps_ = 0;
};

TEST(Request, ABlockingCallSpinsAnewAfterEachMoveOfData) {
  if (world().topology().oversubscribed) GTEST_SKIP() << "ranks that share a core do not spin";
  const std::uint64_t yields = std::exchange(detail::Backoff::yields, 0);
  constexpr int polls = 50'000;
  ManyPolls moving(polls, 100);
  detail::run_to_end(moving);
  ManyPolls resting(polls, polls);
  detail::run_to_end(resting);
  detail::Backoff::yields = yields;
  EXPECT_EQ(moving.sleeps(), 0);
  EXPECT_GT(resting.sleeps(), 0);
}

/// Rank 0 alone starts two calls, on communicators of different names; both fail by their timeouts.
TEST(Request, WaitAllThrowsTheFirstFailureAfterAllHaveEnded) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  CommunicatorOptions options;
  options.name = "first";
  options.timeout = std::chrono::milliseconds(400);
  const Communicator first = Communicator::duplicate(MPI_COMM_WORLD, options);
  options.name = "second";
  options.timeout = std::chrono::milliseconds(200);
  const Communicator second = Communicator::duplicate(MPI_COMM_WORLD, options);
  auto x = contribution(1);
  auto y = contribution(2);
  if (world().rank() == 0) {
    std::vector<Request> requests;
    requests.push_back(iallreduce(first, x, sum));
    requests.push_back(iallreduce(second, y, sum));
    try {
      wait_all(requests);
      ADD_FAILURE() << "calls of one rank ended";
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("'first'"), std::string::npos) << e.what();
    }
    for (const Request& request : requests) EXPECT_EQ(request.error(), ErrorCode::timeout);
  }
  barrier(world());
}

TEST(Request, NonblockingAndBlockingCallsMix) {
  for (const std::string& kind : kinds()) {
    Options options;
    options.algorithm = kind;
    auto first = contribution(1);
    auto second = contribution(2);
    Request request = iallreduce(world(), first, sum, options);
    allreduce(world(), second, sum, options);
    barrier(world());
    request.wait();
    EXPECT_EQ(first, total(1)) << kind;
    EXPECT_EQ(second, total(2)) << kind;
  }
}

TEST(Request, PersistentOnesStartInAnyOrder) {
  constexpr int operations = 4;
  std::vector<std::vector<float>> in(operations, std::vector<float>(count));
  std::vector<std::vector<float>> out(operations, std::vector<float>(count));
  std::vector<Request> requests;
  for (int k = 0; k < operations; ++k)
    requests.push_back(allreduce_init(world(), in[static_cast<std::size_t>(k)], out[static_cast<std::size_t>(k)], sum));
  for (int round = 0; round < 5; ++round) {
    // Copied, not assigned: the operations are bound to these addresses.
    for (int k = 0; k < operations; ++k)
      std::ranges::copy(contribution(round * operations + k), in[static_cast<std::size_t>(k)].begin());
    for (int k = 0; k < operations; ++k)
      requests[static_cast<std::size_t>((k + world().rank() + round) % operations)].start();
    wait_all(requests);
    for (int k = 0; k < operations; ++k)
      EXPECT_EQ(out[static_cast<std::size_t>(k)], total(round * operations + k)) << round << " " << k;
  }
}

TEST(Request, StatesAreAsDocumented) {
  Request none;
  EXPECT_TRUE(none.test());
  none.wait();
  EXPECT_THROW(none.start(), Error);
  std::vector<int> x(2, 1);
  Request once = iallreduce(world(), x, sum);
  EXPECT_THROW(once.start(), Error);
  once.wait();
  EXPECT_FALSE(once.valid());
  Request persistent = allreduce_init(world(), x, sum);
  EXPECT_FALSE(persistent.active());
  EXPECT_TRUE(persistent.test());
  persistent.start();
  persistent.wait();
  EXPECT_TRUE(persistent.valid());
  EXPECT_EQ(persistent.error(), ErrorCode::success);
}

TEST(Request, DetachedOneStillCompletes) {
  Options options;
  options.algorithm = "ring";
  auto data = contribution(4);
  std::shared_ptr<detail::Execution> execution;
  {
    const Request dropped = iallreduce(world(), data, sum, options);
    execution = dropped.execution();
  }
  // Later calls drive it. A thread of the library that drives it instead may have no core for longer than they take.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (int goes_on = 1; goes_on != 0;) {
    goes_on = !execution->finished() && std::chrono::steady_clock::now() < deadline ? 1 : 0;
    allreduce(world(), std::span(&goes_on, 1), max);
  }
  ASSERT_TRUE(execution->finished());
  EXPECT_EQ(data, total(4));
}

// A legal MPI program: the large send of rank 0 completes while it is in Tutti's barrier.
TEST(Progress, LargeSendOfTheHostGoesOnInABarrier) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const Communicator& comm = world();
  std::vector<char> message(std::size_t{8} << 20U, 'x');
  if (comm.rank() == 0) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_CHAR, 1, 9, MPI_COMM_WORLD, &request);
    barrier(comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    if (comm.rank() == 1)
      MPI_Recv(message.data(), static_cast<int>(message.size()), MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    barrier(comm);
  }
}

// Another one: rank 0 blocks in the host MPI between start and wait; rank 1 needs its part before it sends.
TEST(Progress, NonblockingOperationGoesOnInABlockingReceiveOfTheHost) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const Communicator& comm = world();
  auto data = contribution(5);
  Request request = iallreduce(comm, data, sum);
  int token = 0;
  if (comm.rank() == 0) {
    MPI_Recv(&token, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    request.wait();
  } else {
    request.wait();
    if (comm.rank() == 1) MPI_Send(&token, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
  }
  EXPECT_EQ(data, total(5));
}

// Making a communicator is a call of the library too: it drives what another rank still waits for.
TEST(Progress, FactoriesDriveOutstandingOperations) {
  Options options;
  options.algorithm = "ring";
  auto data = contribution(7);
  Request request = iallreduce(world(), data, sum, options);
  if (world().rank() % 2 == 1) request.wait();
  const Communicator part = world().split(0, world().rank());
  const Communicator copy = Communicator::duplicate(MPI_COMM_WORLD);
  request.wait();
  EXPECT_EQ(data, total(7));
  barrier(part);
  barrier(copy);
}

// What is started on one communicator goes on while the rank waits on another.
TEST(Progress, WaitOnOneCommunicatorDrivesTheOthers) {
  const Communicator other = Communicator::duplicate(MPI_COMM_WORLD);
  Options options;
  options.algorithm = "ring";
  auto data = contribution(6);
  Request request = iallreduce(other, data, sum, options);
  if (world().rank() % 2 == 0) request.wait();
  barrier(world());
  request.wait();
  EXPECT_EQ(data, total(6));
}

}  // namespace
}  // namespace tutti::test
