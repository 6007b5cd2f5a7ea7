// SPDX-License-Identifier: BSD-3-Clause
// Several threads are inside the MPI, each of which may take the steps of all calls.
#include <atomic>
#include <cstdlib>
#include <string_view>

#include "mpi/progress_hook/away.hpp"

namespace tutti::test {
namespace {

class Threads : public WithHook {
 protected:
  void SetUp() override {
    WithHook::SetUp();
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "needs MPI_THREAD_MULTIPLE";
  }
  static int rounds() {
#if defined(__SANITIZE_THREAD__)
    return 15;
#else
    return 60;
#endif
  }
};

/// Starts calls, is inside MPI until a message has come that each rank's peers send between start and wait, and waits.
void call_and_exchange(const Communicator& comm, int thread, int rounds) {
  constexpr std::array operations = {Operation::allreduce, Operation::allgather, Operation::bcast, Operation::alltoall};
  const int next = (world().rank() + 1) % world().size();
  const int before = (world().rank() + world().size() - 1) % world().size();
  for (int i = 0; i < rounds; ++i) {
    Options options;
    options.algorithm = i % 3 == 0 ? "" : "mpi";
    Work work(comm, operations[static_cast<std::size_t>(i + thread) % operations.size()],
              static_cast<std::size_t>(1 + i * 97 % 3'000));
    work.fill(i);
    Request request = work.start(options);
    int token = i;
    MPI_Request sent = MPI_REQUEST_NULL;
    MPI_Isend(&i, 1, MPI_INT, next, 100 + thread, MPI_COMM_WORLD, &sent);
    MPI_Recv(&token, 1, MPI_INT, before, 100 + thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    request.wait();
    work.verify("thread " + std::to_string(thread));
  }
}

TEST_F(Threads, EachWithACommunicator) {
  constexpr int threads = 3;
  std::vector<Communicator> comms;
  for (int i = 0; i < threads; ++i) comms.push_back(Communicator::duplicate(MPI_COMM_WORLD));
  std::atomic<bool> ends{false};
  // It owns no call, and takes steps of the others'.
  std::thread looker([&] {
    int found = 0;
    while (!ends.load()) {
      MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> workers;
  for (int i = 1; i < threads; ++i)
    workers.emplace_back([&, i] { call_and_exchange(comms[static_cast<std::size_t>(i)], i, rounds()); });
  call_and_exchange(comms[0], 0, rounds());
  for (std::thread& worker : workers) worker.join();
  ends.store(true);
  looker.join();
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace tutti::test
