// SPDX-License-Identifier: BSD-3-Clause
// Memory that runs out while calls progress, and at each step of one call.
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <new>
#include <numeric>
#include <string>
#include <tutti/tutti.hpp>
#include <vector>

#include "support/heap.hpp"
#include "support/meet.hpp"
#include "support/world.hpp"

namespace tutti::test {
namespace {

// Rank 0 has no memory while its calls end: they end all the same, and no other rank waits for it.
TEST(OutOfMemory, CallsEndWithoutMemory) {
  constexpr std::size_t calls = 40;  // more than a poll takes off its list
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  std::vector<std::vector<int>> x(calls, std::vector<int>(50));
  std::vector<Request> requests;
  // Those of even number are messages, if there is another rank.
  Options ring;
  ring.algorithm = "ring";
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < calls; ++i) x[i].assign(50, comm.rank() + static_cast<int>(i) + round);
    requests.clear();
    requests.reserve(calls);
    // Others come later, so that the calls of rank 0 are outstanding.
    if (comm.rank() > 0) MPI_Barrier(MPI_COMM_WORLD);
    for (std::size_t i = 0; i < calls; ++i)
      requests.push_back(iallreduce(comm, x[i], sum, i % 2 == 0 ? ring : Options{}));
    if (comm.rank() == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (comm.rank() == 0) allow_allocations(0);
    try {
      for (auto& request : requests)
        while (!request.test()) progress();
      (void)allow_all_allocations();
    } catch (const std::bad_alloc&) {
      (void)allow_all_allocations();
      ADD_FAILURE() << "progress() threw";
    }
    for (auto& request : requests) request.wait();
    const int n = comm.size();
    for (std::size_t i = 0; i < calls; ++i)
      ASSERT_EQ(x[i], std::vector<int>(50, n * (static_cast<int>(i) + round) + n * (n - 1) / 2)) << i;
  }
}

enum class Form { blocking, nonblocking, persistent };

template <typename Blocking, typename Nonblocking, typename Init>
void in_form(Form form, const Blocking& blocking, const Nonblocking& nonblocking, const Init& init) {
  if (form == Form::blocking) return blocking();
  Request request = form == Form::nonblocking ? nonblocking() : init();
  if (form == Form::persistent) request.start();
  request.wait();
}

/// The memory of a call, which is there before memory runs out.
struct Arrays {
  explicit Arrays(const Communicator& comm)
      : counts(static_cast<std::size_t>(comm.size()), 5), displs(counts.size()), x(5 * counts.size(), 1), y(x) {
    std::exclusive_scan(counts.begin(), counts.end(), displs.begin(), std::size_t{0});
  }
  std::vector<std::size_t> counts;
  std::vector<std::size_t> displs;
  std::vector<int> x;
  std::vector<int> y;
  std::vector<int> matrix = std::vector<int>(100, 1);
  Buffer column{matrix.data(), Layout::vector(10, 1, 10)};
};

using Operation = void (*)(const Communicator&, Arrays&, Form, const Options&);

void sum_up(const Communicator& comm, Arrays& a, Form form, const Options& o) {
  const std::span<const int> x(a.x);
  in_form(
      form, [&] { allreduce(comm, x, a.y, sum, o); }, [&] { return iallreduce(comm, x, a.y, sum, o); },
      [&] { return allreduce_init(comm, x, a.y, sum, o); });
}

void exchange(const Communicator& comm, Arrays& a, Form form, const Options& o) {
  const std::span<const int> x(a.x);
  in_form(
      form, [&] { alltoallv(comm, x, a.counts, a.displs, a.y, a.counts, a.displs, o); },
      [&] { return ialltoallv(comm, x, a.counts, a.displs, a.y, a.counts, a.displs, o); },
      [&] { return alltoallv_init(comm, x, a.counts, a.displs, a.y, a.counts, a.displs, o); });
}

void send_column(const Communicator& comm, Arrays& a, Form form, const Options& o) {
  in_form(
      form, [&] { bcast(comm, a.column, 0, o); }, [&] { return ibcast(comm, a.column, 0, o); },
      [&] { return bcast_init(comm, a.column, 0, o); });
}

void exchange_with_neighbors(const Communicator& comm, Arrays& a, Form form, const Options& o) {
  const std::span<const int> x(a.x.data(), 4);
  const std::span<int> y(a.y.data(), 4);
  in_form(
      form, [&] { neighbor_alltoall(comm, x, y, o); }, [&] { return ineighbor_alltoall(comm, x, y, o); },
      [&] { return neighbor_alltoall_init(comm, x, y, o); });
}

MPI_Comm ring_of_all() {
  static const MPI_Comm made = [] {
    const int periodic = 1;
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm ring = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    return ring;
  }();
  return made;
}

/// Takes no memory.
template <typename Call>
ErrorCode code_of(const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.code();
  } catch (...) {
    return ErrorCode::internal;  // no exception of this library
  }
  return ErrorCode::success;
}

struct Way {
  std::string name;
  Operation call;
  std::string algorithm;
  bool is_first = false;  ///< of its communicator, so that it is planned
};

/// Lets memory run out on rank 0 at one allocation of a call after the other. Each time the call, unless it can do
/// without that memory, is an error there, and so is the next one.
void run_out_everywhere(const Way& way, Form form) {
  constexpr int most = 400;
  bool ran_out = true;
  for (int good = 0; ran_out && good < most; ++good) {
    const Communicator comm = Communicator::borrow(ring_of_all());
    SCOPED_TRACE(way.name + ", form " + std::to_string(static_cast<int>(form)) + ", allocation " +
                 std::to_string(good));
    Options options;
    options.algorithm = way.algorithm;
    options.timeout = std::chrono::seconds(10);
    Arrays arrays(comm);
    if (!way.is_first) way.call(comm, arrays, form, options);
    meet();  // who still waited would hear of the failure
    if (comm.rank() != 0) options.timeout = std::chrono::milliseconds(50);
    if (comm.rank() == 0) allow_allocations(good);
    const ErrorCode code = code_of([&] { way.call(comm, arrays, form, options); });
    ran_out = allow_all_allocations();
    if (comm.rank() == 0) {
      const bool is_done = code == ErrorCode::success;
      EXPECT_TRUE(is_done || (ran_out && code == ErrorCode::out_of_memory)) << error_string(code);
      EXPECT_TRUE(is_done || code_of([&] { barrier(comm); }) == ErrorCode::invalid_communicator) << "it counts as good";
    }
    MPI_Bcast(&ran_out, 1, MPI_CXX_BOOL, 0, MPI_COMM_WORLD);
    meet();
  }
  EXPECT_FALSE(ran_out);
}

class OutOfMemoryInACall : public ::testing::TestWithParam<Way> {};

TEST_P(OutOfMemoryInACall, BreaksTheCommunicatorThere) {
  for (const Form form : {Form::blocking, Form::nonblocking, Form::persistent}) run_out_everywhere(GetParam(), form);
}

INSTANTIATE_TEST_SUITE_P(Ways, OutOfMemoryInACall,
                         ::testing::Values(Way{"first", sum_up, "", true}, Way{"shm", sum_up, ""},
                                           Way{"ring", sum_up, "mpi:ring"}, Way{"counts", exchange, ""},
                                           Way{"counts_by_messages", exchange, "mpi"}, Way{"layout", send_column, ""},
                                           Way{"layout_by_messages", send_column, "mpi"},
                                           Way{"neighbors", exchange_with_neighbors, ""}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tutti::test
