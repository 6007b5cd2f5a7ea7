// SPDX-License-Identifier: BSD-3-Clause
// Calls of several rounds are finished while a rank that has started them sits in the host MPI.
#include "mpi/progress_hook/away.hpp"

namespace tutti::test {
namespace {

class Rounds : public WithHook, public ::testing::WithParamInterface<Operation> {
 protected:
  /// Every algorithm, at lengths of one message and of many chunks, in places by turns.
  template <typename Body>
  static void for_each_way(const Body& body) {
    std::size_t turn = static_cast<std::size_t>(GetParam());
    for (const std::string& algorithm : algorithm_names(GetParam()))
      for (const std::size_t count : {std::size_t{1}, std::size_t{25'000}}) {
        Options options;
        options.algorithm = algorithm;
        Work work(world(), GetParam(), count, 1);
        try {
          body(work, options, places[turn++ % places.size()]);
        } catch (const Error& e) {
          EXPECT_EQ(e.code(), ErrorCode::invalid_algorithm) << algorithm << ": " << e.what();
        }
      }
  }
};

TEST_P(Rounds, OfNonblockingCalls) {
  for_each_way([](Work& work, const Options& options, Place place) {
    work.fill(1);
    Request request = work.start(options);
    finish_without_rank_0(place, [&] { request.wait(); });
    work.verify("one rank away, " + options.algorithm);
  });
}

TEST_P(Rounds, OfPersistentCalls) {
  for_each_way([](Work& work, const Options& options, Place place) {
    Request request = work.prepare(options);
    for (int round = 0; round < 3; ++round) {
      work.fill(round);
      request.start();
      finish_without_rank_0(place, [&] { request.wait(); });
      work.verify("one rank away, " + options.algorithm);
    }
  });
}

// Several are outstanding, on several communicators, and are waited for in another order.
TEST_P(Rounds, OfManyCalls) {
  constexpr std::size_t calls = 6;
  std::vector<Work> works;
  works.reserve(calls);
  for (std::size_t i = 0; i < calls; ++i) works.emplace_back(communicators()[i % 2], GetParam(), 500 * i + 1, 1);
  std::vector<Request> requests;
  for (Work& work : works) {
    work.fill(2);
    Options options;
    options.algorithm = "mpi";
    requests.push_back(work.start(options));
  }
  finish_without_rank_0(Place::recv, [&] {
    for (std::size_t i = calls; i-- > 0;) requests[i].wait();
  });
  for (Work& work : works) work.verify("one rank away, many calls");
}

INSTANTIATE_TEST_SUITE_P(ProgressHook, Rounds, ::testing::ValuesIn(all_operations),
                         [](const auto& test) { return std::string(operation_name(test.param)); });

// The first of two programs that docs/semantics.md promises to end, with calls of several rounds outstanding.
TEST_F(WithHook, LargeSendAndBarrier) {
  std::vector<char> message(std::size_t{8} << 20U);
  Options options;
  options.algorithm = "mpi";
  Work work(world(), Operation::allreduce, 100'000);
  work.fill(3);
  Request outstanding = work.start(options);
  MPI_Request sent = MPI_REQUEST_NULL;
  if (world().rank() == 0) {
    std::fill(message.begin(), message.end(), 'x');
    MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_CHAR, 1, away_tag, MPI_COMM_WORLD, &sent);
  } else if (world().rank() == 1) {
    MPI_Recv(message.data(), static_cast<int>(message.size()), MPI_CHAR, 0, away_tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  }
  barrier(world(), options);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  outstanding.wait();
  work.verify("beside a large send");
  EXPECT_EQ(message.back(), world().rank() < 2 ? 'x' : '\0');
}

// The second one, by the way that the planner takes.
TEST_F(WithHook, WaitAndSend) {
  for (const bool reproducible : {false, true}) {
    std::vector<float> x(200'000, 1.0F);
    Options options;
    options.reproducible = reproducible;
    Request request = iallreduce(world(), x, min, options);
    finish_without_rank_0(Place::recv, [&] { request.wait(); });
    EXPECT_EQ(x.back(), 1.0F);
  }
}

}  // namespace
}  // namespace tutti::test
