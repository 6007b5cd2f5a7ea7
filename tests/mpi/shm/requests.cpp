// SPDX-License-Identifier: BSD-3-Clause
// Many calls under way at once: more than there are cells, in other orders on every rank, of all kinds together.
#include <array>
#include <chrono>
#include <deque>
#include <thread>
#include <tutti/request.hpp>

#include "backends/shm/layout.hpp"
#include "call/execution.hpp"
#include "mpi/shm/work.hpp"
#include "support/exercise.hpp"

namespace tutti::test {
namespace {

using namespace detail::shm;

const Communicator& world() { return communicators().front(); }

/// Bytes of a line, of a slot, and of a single copy.
const std::vector<std::size_t>& lengths() {
  static const std::vector<std::size_t> all{1, 2'000, 70'000};
  return all;
}

std::deque<Work> many(int number, int salt) {
  std::deque<Work> all;
  for (int k = 0; k < number; ++k) {
    const auto mixed = static_cast<std::size_t>(k + salt);
    all.emplace_back(world(), all_operations[mixed % all_operations.size()], lengths()[mixed % lengths().size()],
                     (k + salt) % world().size());
    all.back().fill(k);
  }
  return all;
}

TEST(Outstanding, MoreThanThereAreCellsEndInReverseOrder) {
  for (int salt = 0; salt < 3; ++salt) {
    std::deque<Work> work = many(3 * ordered_cells, salt);
    std::vector<Request> requests;
    for (Work& w : work) requests.push_back(w.start());
    for (std::size_t k = requests.size(); k-- > 0;) requests[k].wait();
    for (const Work& w : work) w.verify("reverse order");
  }
}

static_assert(ordered_cells == 12 && persistent_owners == 16, "docs/semantics.md names them");

// The last rank has started all of them and is in the host MPI until another one has completed its own.
TEST(Outstanding, AsManyAsThereAreCellsNeedNoHelpOfABusyRank) {
  const int last = world().size() - 1;
  MPI_Barrier(MPI_COMM_WORLD);  // Earlier calls have left the cells.
  std::vector<std::array<int, 3>> data(ordered_cells, {1, 2, world().rank()});
  std::vector<Request> requests;
  for (auto& one : data) requests.push_back(iallreduce(world(), in_place, one, sum));
  int word = 0;
  if (world().rank() == last && last > 0) MPI_Recv(&word, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  wait_all(requests);
  if (world().rank() == 0 && last > 0) MPI_Send(&word, 1, MPI_INT, last, 7, MPI_COMM_WORLD);
  for (const auto& one : data) EXPECT_EQ(one, (std::array{1 + last, 2 * (1 + last), last * (1 + last) / 2}));
}

TEST(Outstanding, EndInAnotherOrderOnEveryRank) {
  std::deque<Work> work = many(2 * ordered_cells, 5);
  std::vector<Request> requests;
  for (Work& w : work) requests.push_back(w.start());
  const std::size_t n = requests.size();
  for (std::size_t k = 0; k < n; ++k) requests[(k * 5 + static_cast<std::size_t>(world().rank()) * 7) % n].wait();
  for (const Work& w : work) w.verify("another order on every rank");
}

TEST(Outstanding, BlockingNonblockingAndPersistentOnesMix) {
  std::deque<Work> started = many(ordered_cells + 4, 1);
  std::deque<Work> blocking = many(ordered_cells + 4, 2);
  std::deque<Work> bound = many(6, 3);
  std::vector<Request> persistent;
  for (Work& w : bound) persistent.push_back(w.prepare());
  for (int round = 0; round < 3; ++round) {
    std::vector<Request> requests;
    const auto ranks = static_cast<std::size_t>(world().rank());
    for (std::size_t k = 0; k < bound.size(); ++k) bound[k].fill(round + 10);
    for (std::size_t k = 0; k < started.size(); ++k) {
      started[k].fill(round);
      requests.push_back(started[k].start());
      // Persistent ones are started between others, in another place on every rank.
      if (k % 2 == 0 && k / 2 < persistent.size()) persistent[(k / 2 + ranks) % persistent.size()].start();
      blocking[k].fill(round + 1);
      blocking[k].run();
      blocking[k].verify("blocking beside others");
    }
    wait_all(persistent);
    wait_all(requests);
    for (const Work& w : started) w.verify("nonblocking beside others");
    for (const Work& w : bound) w.verify("persistent beside others");
  }
}

TEST(Persistent, MoreThanThereAreCellsGoOverMessages) {
  std::deque<Work> work = many(2 * persistent_owners + 3, 0);
  std::vector<Request> requests;
  for (Work& w : work) requests.push_back(w.prepare());
  const std::size_t n = requests.size();
  for (int round = 0; round < 4; ++round) {
    for (Work& w : work) w.fill(round);
    for (std::size_t k = 0; k < n; ++k)
      requests[(k * 2 + static_cast<std::size_t>(world().rank() + round)) % n].start();
    wait_all(requests);
    for (const Work& w : work) w.verify("many persistent ones");
  }
}

TEST(Persistent, ReleasedCellsAreUsedAgain) {
  for (int k = 0; k < 100; ++k) {
    Work work(world(), Operation::allreduce, lengths()[static_cast<std::size_t>(k) % lengths().size()]);
    Request request = work.prepare();
    for (int round = 0; round < 1 + k % 3; ++round) {
      work.fill(k + round);
      request.start();
      // The rank that waits last releases its cell when others have a new owner for theirs.
      request.wait();
      work.verify("made again");
    }
  }
}

TEST(Persistent, ReleasedCellsCarryTheNextOnes) {
  barrier(world());  // all ranks have released those of the tests before
  for (int round = 0; round < 4; ++round) {
    std::vector<std::vector<int>> data(persistent_owners, std::vector<int>(2, world().rank()));
    std::vector<Request> requests;
    for (auto& x : data) requests.push_back(allreduce_init(world(), std::span(x), sum, {.algorithm = "shm:line"}));
    for (const Request& request : requests)
      EXPECT_NE(request.execution()->name().find("shm:"), std::string::npos)
          << request.execution()->name() << " in round " << round;
    for (Request& request : requests) request.start();
    wait_all(requests);
    for (const auto& x : data) EXPECT_EQ(x[1], world().size() * (world().size() - 1) / 2);
    requests.clear();
    barrier(world());
  }
}

TEST(Persistent, ReleasedByTheRanksInDifferentOrders) {
  for (int round = 0; round < 5; ++round) {
    std::deque<Work> work = many(persistent_owners, round);
    std::vector<Request> requests;
    for (Work& w : work) requests.push_back(w.prepare());
    for (Request& request : requests) request.start();
    wait_all(requests);
    for (const Work& w : work) w.verify("released in another order");
    const auto first = static_cast<std::size_t>(world().rank() * 3 + round) % requests.size();
    for (std::size_t k = 0; k < requests.size(); ++k) requests[(first + k) % requests.size()] = Request();
  }
}

TEST(Dropped, ActiveRequestsStillComplete) {
  std::deque<Work> ordered = many(ordered_cells / 2, 4);
  std::deque<Work> bound = many(persistent_owners / 2, 2);
  for (Work& w : ordered) {
    Request request = w.start();
  }
  for (Work& w : bound) {
    Request request = w.prepare();
    request.start();
  }
  // Later calls drive them; after these all ranks have been in as many steps as the longest of them has.
  for (int k = 0; k < 2'000; ++k) barrier(world());
  for (const Work& w : ordered) w.verify("dropped");
  for (const Work& w : bound) w.verify("dropped persistent");
}

// A giver that waits for nobody must not overwrite what a slower taker has yet to read.
TEST(RunningAhead, RootOfManyBroadcasts) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{4'000}}) {
    std::vector<int> data(count);
    int wrong = 0;
    for (int k = 0; k < 1'000; ++k) {
      if (world().rank() == 0) std::fill(data.begin(), data.end(), k);
      bcast(world(), data, 0);
      wrong += data.front() != k || data.back() != k ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0);
  }
}

TEST(RunningAhead, GiversToARoot) {
  const auto size = static_cast<std::size_t>(world().size());
  std::vector<int> all(size * 500);
  int wrong = 0;
  for (int k = 0; k < 300; ++k) {
    const std::vector<int> mine(500, k * 10 + world().rank());
    gather(world(), mine, all, 0);
    for (std::size_t r = 0; world().rank() == 0 && r < size; ++r)
      wrong += all[r * 500 + 499] != k * 10 + static_cast<int>(r) ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0);
}

/// Starts and waits, with another rank late now and then, which must still find its data.
template <typename Check>
void start_often(Request& request, const Check& check) {
  using namespace std::chrono_literals;
  for (int k = 0; k < 200; ++k) {
    if (k % 10 == 0 && (k / 10) % world().size() == world().rank()) std::this_thread::sleep_for(1ms);
    check(k, [&] {
      request.start();
      request.wait();
    });
  }
}

TEST(RunningAhead, RootOfAPersistentBroadcast) {
  std::vector<int> data(3);
  Request request = bcast_init(world(), data, 0);
  int wrong = 0;
  start_often(request, [&](int k, const auto& run) {
    std::fill(data.begin(), data.end(), world().rank() == 0 ? k : -1);
    run();
    wrong += data.front() != k || data.back() != k ? 1 : 0;
  });
  EXPECT_EQ(wrong, 0);
}

TEST(RunningAhead, GiversOfAPersistentGatherAndScan) {
  const auto size = static_cast<std::size_t>(world().size());
  const int rank = world().rank();
  std::vector<int> mine(2);
  std::vector<int> all(size * 2);
  std::vector<int> sums(2);
  Request gathering = gather_init(world(), mine, all, 0);
  Request scanning = scan_init(world(), mine, sums, sum);
  int wrong = 0;
  const auto fill = [&](int k) { std::fill(mine.begin(), mine.end(), 1000 * k + rank); };
  start_often(gathering, [&](int k, const auto& run) {
    fill(k);
    run();
    for (std::size_t r = 0; rank == 0 && r < size; ++r)
      wrong += all[2 * r + 1] != 1000 * k + static_cast<int>(r) ? 1 : 0;
  });
  start_often(scanning, [&](int k, const auto& run) {
    fill(k);
    run();
    wrong += sums[1] != 1000 * k * (rank + 1) + rank * (rank + 1) / 2 ? 1 : 0;
  });
  EXPECT_EQ(wrong, 0);
}

TEST(ManyRanks, ManyShortCallsEnd) {
  std::vector<int> x(1);
  for (int k = 0; k < 1'000; ++k) {
    barrier(world());
    x[0] = world().rank() + k;
    allreduce(world(), x, sum);
    ASSERT_EQ(x[0], world().size() * (world().size() - 1) / 2 + k * world().size());
  }
}

}  // namespace
}  // namespace tutti::test
