// SPDX-License-Identifier: BSD-3-Clause
#include "backends/staged/staged_execution.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstring>

#include "backends/device/work_stream.hpp"
#include "call/plan.hpp"
#include "call/progress.hpp"
#include "example.hpp"

namespace tutti::test {
namespace {

using detail::staged::Limits;

constexpr Operation all_operations[] = {
    Operation::bcast,    Operation::reduce,    Operation::allreduce,     Operation::reduce_scatter_block,
    Operation::scan,     Operation::exscan,    Operation::gather,        Operation::gatherv,
    Operation::scatter,  Operation::scatterv,  Operation::allgather,     Operation::allgatherv,
    Operation::alltoall, Operation::alltoallv, Operation::reduce_scatter};

void check_all_ways(const Communicator& comm, const Example& example, const char* host, const Limits& limits = {}) {
  const Buffers buffers(comm, example);
  for (const Way way : all_ways) {
    const auto plan = staged_plan(*comm.state(), buffers.signature(kind_of(way)), host, limits);
    const auto make = [&](const Stream& stream) {
      return std::make_shared<detail::StagedExecution>(comm.state(), plan, buffers.binding(), stream,
                                                       std::chrono::seconds(20));
    };
    check(buffers, way, make, example.describe() + " over " + host + ", " + std::to_string(plan->pieces) + " pieces");
  }
}

class Staged : public ::testing::TestWithParam<const char*> {};

TEST_P(Staged, EveryOperationInOnePiece) {
  const Communicator comm = device_communicator();
  for (const Operation operation : all_operations)
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{13}})
      for (const bool in_place : {false, true})
        check_all_ways(comm, {operation, count, DatatypeKind::int32, sum, comm.size() - 1, in_place}, GetParam());
}

TEST_P(Staged, SeveralPieces) {
  const Communicator comm = device_communicator();
  const Limits short_pieces{64, 512, 5};
  for (const Operation operation : all_operations)
    for (const bool in_place : {false, true})
      check_all_ways(comm, {operation, 1237, DatatypeKind::float64, sum, comm.size() / 2, in_place}, GetParam(),
                     short_pieces);
}

INSTANTIATE_TEST_SUITE_P(Over, Staged, ::testing::Values("mpi", "shm"));

TEST(StagedTypes, DatatypesAndOperations) {
  const Communicator comm = device_communicator();
  for (const DatatypeKind kind : {DatatypeKind::int16, DatatypeKind::float32, DatatypeKind::bfloat16})
    for (const ReduceOp& op : {sum, prod, min, max}) check_all_ways(comm, {Operation::allreduce, 7, kind, op}, "mpi");
  check_all_ways(comm, {Operation::allreduce, 7, DatatypeKind::float64, ReduceOp::premul_sum(0.25)}, "shm");
  check_all_ways(comm, {Operation::reduce_scatter_block, 9, DatatypeKind::float32, avg}, "mpi", {1, 32, 4});
  check_all_ways(comm, {Operation::alltoall, 9, Datatype::bytes(3)}, "shm", {1, 32, 4});
}

/// The lower rank's element: associative, and only the order of ranks gives rank 0's.
void take_first(const void* in, void* inout, std::size_t count, Datatype type, void* /*context*/) {
  std::memcpy(inout, in, count * type.size());
}

TEST(StagedTypes, AUsersOperationRunsOnTheHost) {
  const Communicator comm = device_communicator();
  const ReduceOp first = ReduceOp::user(take_first, nullptr, false);
  check_all_ways(comm, {Operation::allreduce, 700, DatatypeKind::int32, first}, "mpi", {64, 512, 5});
  check_all_ways(comm, {Operation::scan, 7, DatatypeKind::int32, first}, "shm");
}

TEST(StagedSubsets, PartsOfTheRanksDoNotMeet) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
  {
    const Communicator comm = device_communicator(false, part);
    for (const Operation operation : {Operation::allreduce, Operation::alltoallv, Operation::scatter})
      check_all_ways(comm, {operation, 300, DatatypeKind::int32}, "shm", {64, 512, 5});
  }
  MPI_Comm_free(&part);
}

TEST(StagedMemory, PinnedMemoryComesBackOnceTheStreamHasPassed) {
  const Communicator comm = device_communicator();
  const Buffers buffers(comm, {Operation::alltoall, 400, DatatypeKind::float64});
  const auto plan = staged_plan(*comm.state(), buffers.signature(CallKind::blocking), "mpi", {64, 512, 5});
  const Stream caller(StreamKind::cuda, runtime().create_stream());
  const auto call = [&] {
    buffers.fill();
    detail::StagedExecution execution(comm.state(), plan, buffers.binding(), caller, std::chrono::seconds(20));
    detail::run_to_end(execution);
  };
  const auto allocations_of = [&](int calls, bool waits) {
    const std::size_t before = runtime().live_allocations();
    for (int i = 0; i < calls; ++i) {
      call();
      if (waits) runtime().run_all();
    }
    runtime().run_all();
    return runtime().live_allocations() - before;
  };
  (void)allocations_of(3, true);
  EXPECT_EQ(allocations_of(20, true), 0U) << "blocks of calls that are over are not used again";
  EXPECT_LE(allocations_of(20, false), 80U);  // four a call at most
  EXPECT_EQ(allocations_of(20, true), 0U);
  runtime().destroy_stream(caller.handle);
}

/// The streams that the next staged call takes for its two directions.
struct Directions {
  detail::device::StreamHandle to_host = nullptr;
  detail::device::StreamHandle to_device = nullptr;
};
Directions directions() {
  std::vector<std::unique_ptr<detail::StreamLease>> leases;
  for (int i = 0; i < 2; ++i) leases.push_back(std::make_unique<detail::StreamLease>(0));
  const Directions found{leases[0]->stream(), leases[1]->stream()};
  leases.pop_back();  // the last that comes back is the first that is taken
  return found;
}

/// Bytes of the result that are not there yet.
std::size_t missing(const Buffers& buffers) {
  const auto content = buffers.content();
  std::size_t count = 0;
  for (std::size_t i = 0; i < content.size(); ++i) count += content[i] != buffers.expected()[i] ? 1 : 0;
  return count;
}

/// A bus carries both directions at a time: while a copy to the host is not done, results come back.
TEST(StagedDuplex, ResultsLeaveWhileInputsCome) {
  const Communicator comm = device_communicator();
  const Directions streams = directions();
  if (runtime().queue_of(streams.to_host) == runtime().queue_of(streams.to_device))
    GTEST_SKIP() << "the device has one queue for both, where a copy waits behind another";
  const Buffers buffers(comm, {Operation::allreduce, 1237, DatatypeKind::int32});
  const auto plan = staged_plan(*comm.state(), buffers.signature(CallKind::nonblocking), "mpi", {64, 512, 5});
  ASSERT_GT(plan->pieces, 4U);
  buffers.fill();
  Request request = detail::ProgressEngine::instance().launch(std::make_shared<detail::StagedExecution>(
      comm.state(), plan, buffers.binding(), Stream{}, std::chrono::seconds(20)));
  if (comm.rank() == 0) {  // the others go on
    while (!runtime().run_some()) sched_yield();
    const std::size_t before = missing(buffers);
    ASSERT_GT(before, 0U);
    const auto is_open = std::make_shared<std::atomic<bool>>(false);  // the stream may look later
    runtime().enqueue(streams.to_host, "a long copy", [is_open] { return is_open->load(); });
    while (missing(buffers) == before) {
      progress();
      (void)runtime().run_some();
    }
    *is_open = true;
  }
  request.wait();
  EXPECT_EQ(missing(buffers), 0U);
}

TEST(StagedUnprepared, ACommunicatorWithoutADeviceBorrowsAStream) {
  (void)runtime();
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  check_all_ways(comm, {Operation::allreduce, 300, DatatypeKind::int32}, "mpi", {64, 512, 5});
}

}  // namespace
}  // namespace tutti::test
