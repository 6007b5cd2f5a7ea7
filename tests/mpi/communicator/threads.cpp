// SPDX-License-Identifier: BSD-3-Clause
// Several threads on several communicators, and the progress thread. Both need MPI_THREAD_MULTIPLE.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <tutti/tutti.hpp>
#include <vector>

#include "call/context.hpp"
#include "call/execution.hpp"
#include "call/progress.hpp"
#include "core/config.hpp"

namespace tutti::test {
namespace {

bool has_threads() {
  int level = 0;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

TEST(Threads, EachHasItsCommunicator) {
  if (!has_threads()) GTEST_SKIP() << "the host MPI gives no MPI_THREAD_MULTIPLE";
  constexpr int threads = 3;
  constexpr int rounds = 50;
  std::vector<Communicator> comms;
  for (int t = 0; t < threads; ++t) comms.push_back(Communicator::duplicate(MPI_COMM_WORLD));
  std::vector<int> wrong(threads, 0);
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      const Communicator& comm = comms[static_cast<std::size_t>(t)];
      for (int round = 0; round < rounds; ++round) {
        std::vector<int> a(257, comm.rank() + t);
        std::vector<int> b(257, comm.rank() * round);
        Options options;
        options.algorithm = "ring";
        Request request = iallreduce(comm, a, sum, options);
        allreduce(comm, b, max);
        request.wait();
        const int ranks = comm.size();
        if (a[256] != ranks * (ranks - 1) / 2 + ranks * t || b[0] != (ranks - 1) * round)
          ++wrong[static_cast<std::size_t>(t)];
      }
    });
  for (auto& thread : running) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(threads, 0));
}

/// Gives each thread a communicator of its own, and rethrows what a thread has thrown.
template <typename Work>
void in_threads(int threads, const Work& work) {
  std::vector<Communicator> comms;
  for (int t = 0; t < threads; ++t) comms.push_back(Communicator::duplicate(MPI_COMM_WORLD));
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(threads));
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < comms.size(); ++t)
    running.emplace_back([&, t] {
      try {
        work(comms[t], static_cast<int>(t));
      } catch (...) {
        thrown[t] = std::current_exception();
      }
    });
  for (auto& thread : running) thread.join();
  for (const auto& failure : thrown)
    if (failure) std::rethrow_exception(failure);
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

std::vector<int> sum_of_ranks(const Communicator& comm, std::size_t count, int plus) {
  const int n = comm.size();
  return std::vector<int>(count, n * (n - 1) / 2 + n * plus);
}

/// A blocking, a nonblocking and a persistent call at once, of several sizes.
void mix_calls(const Communicator& comm, int plus, const std::string& algorithm) {
  Options options;
  options.algorithm = algorithm;
  for (const std::size_t count : {1, 100, 3000, 60'000}) {
    std::vector<int> a(count, comm.rank() + plus);
    std::vector<int> b = a;
    std::vector<int> c = a;
    Request persistent = allreduce_init(comm, c, sum, options);
    persistent.start();
    Request request = iallreduce(comm, a, sum, options);
    allreduce(comm, b, sum, options);
    std::vector<int> all(count * static_cast<std::size_t>(comm.size()));
    allgather(comm, std::span(b).first(count), all);
    request.wait();
    persistent.wait();
    const std::vector<int> expected = sum_of_ranks(comm, count, plus);
    require(a == expected && b == expected && c == expected && all.back() == expected.front(), "a wrong sum");
  }
}

TEST(Threads, CallByEveryWay) {
  if (!has_threads()) GTEST_SKIP() << "the host MPI gives no MPI_THREAD_MULTIPLE";
  in_threads(3, [](const Communicator& comm, int t) {
    for (int round = 0; round < 4; ++round) mix_calls(comm, t + round, (t + round) % 3 == 0 ? "ring" : "");
  });
}

TEST(Threads, MakeAndFreeCommunicatorsAndMemory) {
  if (!has_threads()) GTEST_SKIP() << "the host MPI gives no MPI_THREAD_MULTIPLE";
  in_threads(3, [](const Communicator& comm, int t) {
    for (int round = 0; round < 8; ++round) {
      const Communicator child = Communicator::duplicate(comm.mpi_handle());
      const Communicator part = child.split(0, -child.rank());
      const Allocation memory = allocate(child, 100'000 * sizeof(int));
      const std::span<int> x(static_cast<int*>(memory.data()), 100'000);
      std::fill(x.begin(), x.end(), comm.rank() + t);
      allreduce(child, x, sum);
      require(x[99'999] == sum_of_ranks(comm, 1, t).front(), "a wrong sum in shared memory");
      require(allreduce(part, part.rank(), max) == comm.size() - 1, "a wrong greatest rank");
    }
  });
}

TEST(Threads, SendAndReceive) {
  if (!has_threads()) GTEST_SKIP() << "the host MPI gives no MPI_THREAD_MULTIPLE";
  in_threads(3, [](const Communicator& comm, int t) {
    const int to = (comm.rank() + 1) % comm.size();
    const int from = (comm.rank() + comm.size() - 1) % comm.size();
    std::vector<int> sent(20'000, comm.rank() + t);
    std::vector<int> received(sent.size());
    Group group(comm);
    Request halo = group.recv(Buffer(std::span(received)), from).send(ConstBuffer(std::span(sent)), to).init();
    for (int round = 0; round < 30; ++round) {
      halo.start();
      const int mine = comm.rank() + round;
      int theirs = -1;
      sendrecv(comm, ConstBuffer(&mine, 1), to, 1, Buffer(&theirs, 1), from, 1);
      halo.wait();
      require(theirs == from + round && received.back() == from + t, "a wrong message");
    }
  });
}

class ProgressThread {
 public:
  ProgressThread() { Environment::start_progress_thread(); }
  ~ProgressThread() { Environment::stop_progress_thread(); }
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;
};

TEST(Threads, ProgressThreadBesideCallsOnTheSameCommunicators) {
  if (!has_threads()) GTEST_SKIP() << "the host MPI gives no MPI_THREAD_MULTIPLE";
  const ProgressThread progress;
  in_threads(2, [](const Communicator& comm, int t) {
    for (int round = 0; round < 4; ++round) mix_calls(comm, t + round, (t + round) % 2 == 0 ? "ring" : "");
  });
}

TEST(Threads, ProgressThreadBesideAWaitThatSleeps) {
  if (!has_threads()) GTEST_SKIP() << "the host MPI gives no MPI_THREAD_MULTIPLE";
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  const ProgressThread progress;
  for (int round = 0; round < 3; ++round) {
    if (comm.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::vector<int> x(1000, comm.rank() + round);
    Request request = iallreduce(comm, x, sum);
    while (request.active()) {  // as wait() does after some milliseconds
      request.execution()->announce_backoff();
      request.execution()->backoff();
    }
    request.wait();
    EXPECT_EQ(x, sum_of_ranks(comm, 1000, round));
  }
}

class DoneByTheFirstStep final : public detail::Execution {
 public:
  using Execution::Execution;
  [[nodiscard]] std::string name() const override { return "a test"; }

 private:
  bool begin() override { return false; }
  bool step() override { return true; }
  void cancel() noexcept override {}
};

// What the list still holds, a poll of another thread steps, while its owner may start it anew.
TEST(Threads, WhatAPollHasFinishedIsOffTheList) {
  if (detail::config().progress_thread) GTEST_SKIP() << "a poll of the progress thread holds what it has finished";
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  detail::ProgressEngine& engine = detail::ProgressEngine::instance();
  std::vector<std::shared_ptr<DoneByTheFirstStep>> many;
  for (int i = 0; i < 100; ++i) {
    many.push_back(std::make_shared<DoneByTheFirstStep>(comm.state(), std::chrono::nanoseconds{0}, true));
    many.back()->start();
    engine.add(many.back());
  }
  const auto is_finished = [](const auto& execution) { return execution->finished(); };
  for (int polls = 0; !std::all_of(many.begin(), many.end(), is_finished); ++polls) {
    ASSERT_LT(polls, 100);
    engine.poll();
    for (const auto& execution : many)
      ASSERT_TRUE(!execution->finished() || execution.use_count() == 1) << "after poll " << polls;
  }
}

TEST(Threads, ProgressThreadDrivesWhileTheCallerIsElsewhere) {
  if (!has_threads()) GTEST_SKIP() << "the host MPI gives no MPI_THREAD_MULTIPLE";
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  Environment::start_progress_thread();
  std::vector<int> x(1000, comm.rank());
  Options options;
  options.algorithm = "ring";
  Request request = iallreduce(comm, x, sum, options);
  // Nothing here calls the library: only the thread can complete the operation.
  for (int k = 0; k < 2000 && request.active(); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(request.active());
  request.wait();
  EXPECT_EQ(x[999], comm.size() * (comm.size() - 1) / 2);
  Environment::stop_progress_thread();
}

TEST(Threads, ProgressThreadNeedsTheThreadLevel) {
  if (has_threads()) GTEST_SKIP() << "this run has MPI_THREAD_MULTIPLE";
  EXPECT_THROW(Environment::start_progress_thread(), Error);
}

}  // namespace
}  // namespace tutti::test
