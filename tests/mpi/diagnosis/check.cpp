// SPDX-License-Identifier: BSD-3-Clause
// Check mode: one rank differs in one field of a call, and every rank gets an error that names both calls and places.
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <tutti/tutti.hpp>
#include <vector>

#include "checked.hpp"

namespace tutti::test {
namespace {

bool shares_memory() {
  const char* shm = std::getenv("TUTTI_SHM");
  return shm == nullptr || std::string_view(shm) != "0";
}

std::size_t size_of(const Communicator& comm) { return static_cast<std::size_t>(comm.size()); }

template <typename T = float>
struct Pair {
  explicit Pair(std::size_t count) : in(count, T{1}), out(count, T{}) {}
  std::vector<T> in;
  std::vector<T> out;
};

using Use = std::function<void(const Communicator&)>;

template <typename T = float>
Use sums(std::size_t count, Options options = {}, ReduceOp op = sum) {
  return [=](const Communicator& comm) {
    Pair<T> x(count);
    allreduce(comm, x.in, x.out, op, options);
  };
}

Use sums_later(ReduceOp op) {
  return [=](const Communicator& comm) {
    Pair x(4);
    iallreduce(comm, x.in, x.out, op).wait();
  };
}

Use sends_from(int root) {
  return [=](const Communicator& comm) {
    std::vector<int> x(3);
    bcast(comm, x, root);
  };
}

std::vector<std::size_t> ascending(const std::vector<std::size_t>& counts) {
  std::vector<std::size_t> displs(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), displs.begin(), std::size_t{0});
  return displs;
}

std::size_t total(const std::vector<std::size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

/// The block of one rank is longer by one: in the eyes of this rank.
std::vector<std::size_t> counts_with(const Communicator& comm, std::size_t longer) {
  std::vector<std::size_t> counts(size_of(comm), 2);
  counts[longer] = 3;
  return counts;
}

Use scatters_sums(std::size_t longer) {
  return [=](const Communicator& comm) {
    const auto counts = counts_with(comm, longer);
    std::vector<float> in(total(counts));
    std::vector<float> out(counts[static_cast<std::size_t>(comm.rank())]);
    reduce_scatter(comm, in, out, counts, sum);
  };
}

Use exchanges(std::size_t longer_sent) {
  return [=](const Communicator& comm) {
    const auto sent = counts_with(comm, longer_sent);
    const auto received = std::vector<std::size_t>(size_of(comm), comm.rank() == 0 ? 3 : 2);
    std::vector<int> in(total(sent));
    std::vector<int> out(total(received));
    alltoallv(comm, in, sent, ascending(sent), out, received, ascending(received));
  };
}

Use gathers(std::size_t own) {
  return [=](const Communicator& comm) {
    const std::vector<std::size_t> counts(size_of(comm), 2);
    std::vector<int> in(own);
    std::vector<int> out(total(counts));
    gatherv(comm, in, out, counts, ascending(counts), 0);
  };
}

Use scatters(std::size_t own) {
  return [=](const Communicator& comm) {
    const std::vector<std::size_t> counts(size_of(comm), 2);
    std::vector<int> in(total(counts));
    std::vector<int> out(own);
    scatterv(comm, in, counts, ascending(counts), out, 0);
  };
}

Use gathers_all(std::size_t longer) {
  return [=](const Communicator& comm) {
    const auto counts = counts_with(comm, longer);
    std::vector<int> in(counts[static_cast<std::size_t>(comm.rank())]);
    std::vector<int> out(total(counts));
    allgatherv(comm, in, out, counts, ascending(counts));
  };
}

Options with(const std::function<void(Options&)>& change) {
  Options options;
  change(options);
  return options;
}

struct Row {
  std::string name;
  Use most;  ///< of all ranks but the last
  Use last;
  std::vector<std::string> words;  ///< in the text on all ranks
};
std::ostream& operator<<(std::ostream& to, const Row& row) { return to << row.name; }

const std::vector<Row>& rows() {
  static const std::vector<Row> table{
      {"Operation",
       sums(4),
       [](const Communicator& c) { barrier(c); },
       {"calls allreduce(float32, count 4, sum)", "calls barrier()"}},
      {"Type", sums(4), sums<int>(4), {"allreduce(float32, count 4, sum)", "allreduce(int32, count 4, sum)"}},
      {"Count", sums(4), sums(5), {"count 4", "count 5"}},
      {"Op", sums(4), sums(4, {}, max), {"count 4, sum)", "count 4, max)"}},
      {"Root", sends_from(0), sends_from(1), {"bcast(int32, count 3, root 0)", "bcast(int32, count 3, root 1)"}},
      {"Nonblocking", sums_later(sum), sums(4), {"iallreduce(float32", " allreduce(float32"}},
      {"NonblockingOp", sums_later(sum), sums_later(max), {"iallreduce(float32, count 4, sum)", "count 4, max)"}},
      {"Persistent",
       [](const Communicator& comm) {
         Pair x(4);
         Request request = allreduce_init(comm, x.in, x.out, sum);
         request.start();
         request.wait();
       },
       sums(4),
       {"allreduce_init(float32", " allreduce(float32"}},
      {"Reproducible", sums(4), sums(4, with([](Options& o) { o.reproducible = true; })), {"sum, reproducible"}},
      {"Accumulation",
       sums(4),
       sums(4, with([](Options& o) { o.accumulation = Accumulation::backend; })),
       {"sum, accumulation by the backend"}},
      {"Exact",
       sums(4),
       sums(4, with([](Options& o) { o.accumulation = Accumulation::exact; })),
       {"sum, exact accumulation"}},
      {"Algorithm", sums(4), sums(4, with([](Options& o) { o.algorithm = "mpi:ring"; })), {"algorithm mpi:ring"}},
      {"SharedCounts", scatters_sums(0), scatters_sums(1), {"with other counts of the blocks"}},
      {"AllgathervCounts", gathers_all(0), gathers_all(1), {"with other counts of the blocks"}},
      {"AlltoallvCounts", exchanges(0), exchanges(1), {"sends rank 0 8 bytes, but that rank expects 12"}},
      {"GathervCount", gathers(2), gathers(1), {"sends rank 0 4 bytes, but that rank expects 8"}},
      {"ScattervCount", scatters(2), scatters(1), {"8 bytes, but that rank expects 4"}},
      {"Order",
       [](const Communicator& comm) {
         sums(4)(comm);
         barrier(comm);
       },
       [](const Communicator& comm) {
         barrier(comm);
         sums(4)(comm);
       },
       {"allreduce(", "barrier("}},
      {"Split", sums(4), [](const Communicator& comm) { (void)comm.split(0); }, {"allreduce(", "split()"}},
  };
  return table;
}

class Differences : public testing::TestWithParam<Row> {};

TEST_P(Differences, AreAnErrorOnAllRanksThatNamesBoth) {
  const Row& row = GetParam();
  const Communicator comm = checked();
  const int last = comm.size() - 1;
  sums(2)(comm);
  const Outcome outcome = outcome_of([&] { (comm.rank() == last ? row.last : row.most)(comm); });
  const Outcome later = outcome_of([&] { barrier(comm); });
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(outcome.code, ErrorCode::mismatch) << outcome.text;
  for (const std::string& words : row.words) EXPECT_TRUE(outcome.has(words)) << words << " in: " << outcome.text;
  EXPECT_TRUE(outcome.has("rank " + std::to_string(last) + (outcome.has(" sends ") ? "" : " calls"))) << outcome.text;
  EXPECT_TRUE(outcome.has("call 2 differs between ranks")) << outcome.text;
  EXPECT_TRUE(outcome.has("make the same call on all ranks")) << outcome.text;
  EXPECT_EQ(later.code, ErrorCode::invalid_communicator) << later.text;
}

INSTANTIATE_TEST_SUITE_P(Check, Differences, testing::ValuesIn(rows()), [](const auto& one) { return one.param.name; });

TEST(Check, APlaceThatTheProgramGivesIsInTheText) {
  const Communicator comm = checked();
  const int last = comm.size() - 1;
  int line = 0;
  const Outcome outcome = outcome_of([&] {
    const Use use = comm.rank() == last ? sums(4) : sums(5);
    line = __LINE__ + 1;
    TUTTI_HERE, use(comm);
  });
  MPI_Barrier(MPI_COMM_WORLD);
  const std::string place = " at check.cpp:" + std::to_string(line) + " in operator()";
  const std::size_t first = outcome.text.find(place);
  EXPECT_NE(first, std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find(place, first + 1), std::string::npos) << outcome.text;
}

TEST(Check, ARankThatRefusesItsCallIsNamed) {
  const Communicator comm = checked();
  const int last = comm.size() - 1;
  const Outcome outcome = outcome_of([&] {
    if (comm.rank() == last)
      bcast(comm, Buffer(nullptr, 4, DatatypeKind::float32), 0);
    else
      sums(4)(comm);
  });
  MPI_Barrier(MPI_COMM_WORLD);
  if (comm.rank() == last) {
    EXPECT_EQ(outcome.code, ErrorCode::invalid_argument) << outcome.text;
  } else {
    EXPECT_EQ(outcome.code, ErrorCode::mismatch) << outcome.text;
    EXPECT_TRUE(outcome.has("rank " + std::to_string(last) + " has refused its bcast with an error")) << outcome.text;
  }
}

TEST(Check, AllRanksMayRefuseACallAndGoOn) {
  const Communicator comm = checked();
  const Outcome refused = outcome_of([&] { bcast(comm, Buffer(nullptr, 4, DatatypeKind::float32), 0); });
  const Outcome unknown = outcome_of([&] { sums(4, with([](Options& o) { o.algorithm = "rnig"; }))(comm); });
  const Outcome next = outcome_of([&] { sums(4)(comm); });
  EXPECT_EQ(refused.code, ErrorCode::invalid_argument) << refused.text;
  EXPECT_EQ(unknown.code, ErrorCode::invalid_algorithm) << unknown.text;
  EXPECT_EQ(next.code, ErrorCode::success) << next.text;
}

TEST(Check, AMissingRankIsNamed) {
  const Communicator comm = checked(300ms);
  const int last = comm.size() - 1;
  sums(2)(comm);
  const Outcome outcome = comm.rank() == last ? Outcome{} : outcome_of([&] { sums(4)(comm); });
  MPI_Barrier(MPI_COMM_WORLD);
  if (comm.rank() == last) return;
  EXPECT_EQ(outcome.code, ErrorCode::timeout) << outcome.text;
  EXPECT_TRUE(outcome.has("rank " + std::to_string(last) + " has not made it")) << outcome.text;
  EXPECT_EQ(outcome.has("(its last: allreduce(float32, count 2, sum)"), shares_memory()) << outcome.text;
}

TEST(Check, ARankThatFreesTheCommunicatorIsNamed) {
  if (!shares_memory()) GTEST_SKIP() << "messages tell nothing of the end";
  std::optional<Communicator> comm(checked());
  const int rank = comm->rank();
  const int last = comm->size() - 1;
  if (rank == last) comm.reset();
  const Outcome outcome = rank == last ? Outcome{} : outcome_of([&] { sums(4)(*comm); });
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == last) return;
  EXPECT_EQ(outcome.code, ErrorCode::mismatch) << outcome.text;
  EXPECT_TRUE(outcome.has("calls free (of the communicator)")) << outcome.text;
}

TEST(Check, NeighborhoodCollectivesAreCompared) {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int periodic = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  const Communicator comm = Communicator::adopt(ring, checking());
  const Outcome outcome = outcome_of([&] {
    Pair<int> x(2);
    std::vector<int> one(1);
    if (comm.rank() == comm.size() - 1)
      neighbor_allgather(comm, one, x.out);
    else
      ineighbor_alltoall(comm, x.in, x.out).wait();
  });
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(outcome.code, ErrorCode::mismatch) << outcome.text;
  EXPECT_TRUE(outcome.has("neighbor_allgather()") && outcome.has("ineighbor_alltoall()")) << outcome.text;
}

TEST(Check, RanksMayBeFarAhead) {
  const Communicator comm = checked();
  std::vector<Request> requests;
  std::vector<std::vector<int>> data(200, std::vector<int>(3, comm.rank()));
  if (comm.rank() == 0) MPI_Barrier(MPI_COMM_WORLD);
  for (auto& one : data) requests.push_back(ibcast(comm, one, 0));
  if (comm.rank() != 0) MPI_Barrier(MPI_COMM_WORLD);
  wait_all(requests);
  for (const auto& one : data) EXPECT_EQ(one, std::vector<int>(3, 0));
}

TEST(Check, PersistentCallsMayStartInAnyOrder) {
  const Communicator comm = checked();
  Pair a(4);
  Pair b(4);
  std::vector<Request> requests;
  requests.push_back(allreduce_init(comm, a.in, a.out, sum));
  requests.push_back(allreduce_init(comm, b.in, b.out, max));
  for (int round = 0; round < 3; ++round) {
    const std::size_t first = comm.rank() % 2 == 0 ? 0 : 1;
    requests[first].start();
    requests[1 - first].start();
    wait_all(requests);
  }
  EXPECT_EQ(a.out[3], static_cast<float>(comm.size()));
  EXPECT_EQ(b.out[3], 1.0F);
}

/// The outcome of a wait after the program has written to a buffer of the call: change(buffers).
template <typename Change>
Outcome after(const Communicator& comm, std::size_t count, const Change& change) {
  Pair x(count);
  Request request = iallreduce(comm, x.in, x.out, sum);
  change(x);
  const Outcome outcome = outcome_of([&] { request.wait(); });
  barrier(comm);
  return outcome;
}

TEST(Check, AChangedSendBufferIsFound) {
  const Communicator comm = checked();
  const Outcome outcome = after(comm, 100, [](Pair<>& x) { x.in[50] = 7; });
  EXPECT_EQ(outcome.code, ErrorCode::invalid_argument) << outcome.text;
  EXPECT_TRUE(outcome.has("send buffer changed before the call was complete: iallreduce(float32, count 100, sum)"));
}

TEST(Check, AllBytesOfALongBufferAreCompared) {
  CommunicatorOptions options = checking();
  options.check = CheckMode::bytes;
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD, options);
  const Outcome outcome = after(comm, 100'000, [](Pair<>& x) { x.in[12'347] = 7; });
  EXPECT_EQ(outcome.code, ErrorCode::invalid_argument) << outcome.text;
}

TEST(Check, AReceiveBufferThatTheProgramWritesIsFound) {
  const Communicator comm = checked();
  const Outcome outcome = after(comm, 100, [](Pair<>& x) { x.out[50] = -7; });
  EXPECT_EQ(outcome.code, ErrorCode::invalid_argument) << outcome.text;
  EXPECT_TRUE(outcome.has("receive buffer changed before the call was complete: iallreduce(float32, count 100, sum)"));
}

TEST(Check, AllBytesOfALongReceiveBufferAreCompared) {
  CommunicatorOptions options = checking();
  options.check = CheckMode::bytes;
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD, options);
  EXPECT_EQ(after(comm, 100'000, [](Pair<>& x) { x.out[12'347] = -7; }).code, ErrorCode::invalid_argument);
}

// The buffer of a receive that the program writes before the message comes has the message afterwards.
TEST(Check, AReceiveThatTheProgramWritesIsFound) {
  const Communicator comm = checked();
  if (comm.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  float data = 3;
  if (comm.rank() == 0) {
    barrier(comm);
    send(comm, ConstBuffer(&data, 1), 1);
  } else if (comm.rank() == 1) {
    data = 0;
    Request request = irecv(comm, Buffer(&data, 1), 0);
    data = 5;
    barrier(comm);
    const Outcome outcome = outcome_of([&] { request.wait(); });
    EXPECT_TRUE(outcome.has("the receive buffer changed before the call was complete: irecv()")) << outcome.text;
    EXPECT_EQ(data, 3);
  } else {
    barrier(comm);
  }
  barrier(comm);
}

TEST(Check, WhatACallLeavesAloneStays) {
  const Communicator comm = checked();
  const std::vector<int> in(4, comm.rank() + 1);
  std::vector<int> out(4, -1);
  Request request = exscan_init(comm, in, out, sum);
  for (int round = 0; round < 3; ++round) {
    request.start();
    request.wait();
    EXPECT_EQ(out[3], comm.rank() == 0 ? -1 : comm.rank() * (comm.rank() + 1) / 2);
  }
  std::vector<int> long_enough(10, -1);
  if (comm.size() < 2) return;
  if (comm.rank() == 0) send(comm, ConstBuffer(in.data(), 3), 1);
  if (comm.rank() == 1) {
    irecv(comm, Buffer(long_enough.data(), 10), 0).wait();
    EXPECT_EQ(long_enough[2], 1);
    EXPECT_EQ(long_enough[3], -1);
  }
}

TEST(Check, AChangedMessageIsFound) {
  const Communicator comm = checked();
  std::vector<int> sent(10);
  std::vector<int> received(10);
  Request request = isend(comm, sent, (comm.rank() + 1) % comm.size(), 0);
  Request other = irecv(comm, received, any_source, any_tag);
  sent[3] = 1;
  const Outcome outcome = outcome_of([&] { request.wait(); });
  other.wait();
  barrier(comm);
  EXPECT_EQ(outcome.code, ErrorCode::invalid_argument) << outcome.text;
  EXPECT_TRUE(outcome.has("isend()")) << outcome.text;
}

TEST(Check, OverlappingBuffersAreRefused) {
  const Communicator comm = checked();
  Pair x(4);
  Pair y(4);
  Request request = iallreduce(comm, x.in, x.out, sum);
  const Outcome writes = outcome_of([&] { (void)iallreduce(comm, y.in, x.out, sum); });
  const Outcome sends = outcome_of([&] { allreduce(comm, std::span(x.out).first(1), std::span(y.out).first(1), sum); });
  const auto overwrite = [&] { allreduce(comm, std::span(x.in).subspan(1, 1), sum); };
  const Outcome overwrites = outcome_of(overwrite);
  request.wait();
  const Outcome after = outcome_of(overwrite);
  EXPECT_EQ(writes.code, ErrorCode::invalid_argument) << writes.text;
  EXPECT_TRUE(writes.has("writes memory that is still received by iallreduce(float32, count 4, sum)")) << writes.text;
  EXPECT_EQ(sends.code, ErrorCode::invalid_argument) << sends.text;
  EXPECT_TRUE(sends.has("reads memory that is still received by iallreduce")) << sends.text;
  EXPECT_TRUE(overwrites.has("writes memory that is still sent by iallreduce")) << overwrites.text;
  EXPECT_EQ(after.code, ErrorCode::success) << after.text;
}

TEST(Check, CallsMayReadOneBufferAndWriteNeighbouringOnes) {
  const Communicator comm = checked();
  Pair x(4);
  std::vector<float> out(8);
  Request a = iallreduce(comm, x.in, std::span(out).first(4), sum);
  Request b = iallreduce(comm, x.in, std::span(out).last(4), sum);
  b.wait();
  a.wait();
  EXPECT_EQ(out[7], static_cast<float>(comm.size()));
}

TEST(Check, PartsAreCheckedToo) {
  const Communicator comm = checked();
  const Communicator part = comm.split(0, -comm.rank());
  const Outcome outcome = outcome_of([&] { sums(part.rank() == 0 ? 4 : 5)(part); });
  const Outcome whole = outcome_of([&] { barrier(comm); });
  EXPECT_EQ(part.options().check, CheckMode::calls);
  EXPECT_EQ(outcome.code, ErrorCode::mismatch) << outcome.text;
  EXPECT_EQ(whole.code, ErrorCode::success) << whole.text;
}

TEST(Check, TheOptionMustBeEqual) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CommunicatorOptions options;
  options.check = rank == 0 ? CheckMode::calls : CheckMode::bytes;
  const Outcome outcome = outcome_of([&] { (void)Communicator::duplicate(MPI_COMM_WORLD, options); });
  EXPECT_EQ(outcome.code, ErrorCode::mismatch) << outcome.text;
  EXPECT_TRUE(outcome.has("TUTTI_CHECK")) << outcome.text;
}

}  // namespace
}  // namespace tutti::test
