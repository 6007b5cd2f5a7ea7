// SPDX-License-Identifier: BSD-3-Clause
// Several threads on several communicators, and the progress thread. Both need MPI_THREAD_MULTIPLE.
#include <gtest/gtest.h>
#include <mpi.h>

#include <thread>
#include <tutti/tutti.hpp>
#include <vector>

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
