// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "backends/device/work_stream.hpp"
#include "backends/staged/staged_execution.hpp"
#include "call/progress.hpp"
#include "example.hpp"

namespace tutti::test {
namespace {

using detail::StagedExecution;

std::shared_ptr<StagedExecution> staged(const Communicator& comm, const Buffers& buffers, CallKind kind,
                                        const char* host, const Stream& stream,
                                        std::chrono::nanoseconds timeout = std::chrono::seconds(20)) {
  const auto plan = staged_plan(*comm.state(), buffers.signature(kind), host, {64, 512, 5});
  return std::make_shared<StagedExecution>(comm.state(), plan, buffers.binding(), stream, timeout);
}

void expect_right(const Buffers& buffers, const char* what) {
  EXPECT_EQ(buffers.content() == buffers.expected(), true) << what;
}

class StagedOrder : public ::testing::TestWithParam<const char*> {};

TEST_P(StagedOrder, OutstandingOnesAndHostCollectivesKeepTheOrderOfCalls) {
  const Communicator comm = device_communicator();
  const Buffers a(comm, {Operation::allreduce, 1001, DatatypeKind::int32});
  const Buffers b(comm, {Operation::alltoall, 333, DatatypeKind::int32});
  const Buffers c(comm, {Operation::bcast, 5, DatatypeKind::int32});
  for (const Buffers* buffers : {&a, &b, &c}) buffers->fill();
  detail::ProgressEngine& engine = detail::ProgressEngine::instance();
  std::vector<std::int64_t> ones(100, 1);
  std::vector<std::int64_t> sums(100, 0);
  std::vector<std::int64_t> later(100, 0);
  for (int round = 0; round < 20; ++round) {
    for (const Buffers* buffers : {&a, &b, &c}) buffers->fill();
    Request first = engine.launch(staged(comm, a, CallKind::nonblocking, GetParam(), {}));
    Request host = iallreduce(comm, std::span<const std::int64_t>(ones), std::span(sums), sum);
    Request second = engine.launch(staged(comm, b, CallKind::nonblocking, GetParam(), {}));
    allreduce(comm, std::span<const std::int64_t>(ones), std::span(later), sum);
    Request third = engine.launch(staged(comm, c, CallKind::nonblocking, GetParam(), {}));
    barrier(comm);
    third.wait();
    if (comm.rank() % 2 == 0) second.wait();
    first.wait();
    second.wait();
    host.wait();
    ASSERT_EQ(sums[99], comm.size());
    ASSERT_EQ(later[99], comm.size());
    expect_right(a, "allreduce");
    expect_right(b, "alltoall");
    expect_right(c, "bcast");
  }
}

TEST_P(StagedOrder, PersistentOnesStartInAnyOrder) {
  const Communicator comm = device_communicator();
  const Buffers a(comm, {Operation::allreduce, 9, DatatypeKind::int32});
  const Buffers b(comm, {Operation::allgather, 400, DatatypeKind::int32});
  Request first(staged(comm, a, CallKind::persistent, GetParam(), {}));
  Request second(staged(comm, b, CallKind::persistent, GetParam(), {}));
  for (int i = 0; i < 5; ++i) {
    a.fill();
    b.fill();
    Request& before = comm.rank() % 2 == 0 ? first : second;
    Request& after = comm.rank() % 2 == 0 ? second : first;
    before.start();
    after.start();
    first.wait();
    second.wait();
    expect_right(a, "allreduce");
    expect_right(b, "allgather");
  }
}

INSTANTIATE_TEST_SUITE_P(Over, StagedOrder, ::testing::Values("mpi", "shm"));

/// While it lives the library has its thread.
struct ProgressThread {
  ProgressThread() { Environment::start_progress_thread(); }
  ~ProgressThread() { Environment::stop_progress_thread(); }
};

TEST(StagedThread, ABlockingCallReturnsAtOnceAndTheStreamWaits) {
  const Communicator comm = device_communicator();
  const ProgressThread thread;
  const Buffers buffers(comm, {Operation::allreduce, 1001, DatatypeKind::int32});
  const auto stream = runtime().create_stream();
  const Stream caller(StreamKind::cuda, stream);
  ASSERT_TRUE(detail::returns_at_once(caller, 0));
  for (const char* host : {"mpi", "shm"}) {
    std::atomic<bool> may_fill{false};
    std::atomic<bool> taken{false};
    std::vector<std::byte> result;
    buffers.scribble();
    runtime().enqueue(stream, "late", [&] {
      if (!may_fill) return false;
      buffers.fill();
      return true;
    });
    const auto execution = staged(comm, buffers, CallKind::blocking, host, caller);
    (void)detail::ProgressEngine::instance().launch(execution);
    EXPECT_FALSE(execution->finished()) << "its input is not there";
    runtime().enqueue(stream, "take", [&] {
      result = buffers.content();
      taken = true;
      return true;
    });
    EXPECT_FALSE(taken);
    may_fill = true;
    while (!taken) {
      (void)runtime().run_some();
      sched_yield();
    }
    EXPECT_TRUE(result == buffers.expected()) << host;
    while (!execution->finished()) sched_yield();
  }
  runtime().destroy_stream(stream);
}

TEST(StagedThread, WaitOnAStreamReturnsAtOnceToo) {
  const Communicator comm = device_communicator();
  const ProgressThread thread;
  const Buffers buffers(comm, {Operation::allgather, 777, DatatypeKind::int32});
  const auto stream = runtime().create_stream();
  const Stream caller(StreamKind::cuda, stream);
  std::atomic<bool> may_fill{false};
  std::atomic<bool> taken{false};
  std::vector<std::byte> result;
  runtime().enqueue(stream, "late", [&] {
    if (!may_fill) return false;
    buffers.fill();
    return true;
  });
  const auto execution = staged(comm, buffers, CallKind::nonblocking, "mpi", caller);
  (void)detail::ProgressEngine::instance().launch(execution);
  ASSERT_TRUE(execution->order_before(stream));
  EXPECT_FALSE(execution->finished());
  runtime().enqueue(stream, "take", [&] {
    result = buffers.content();
    taken = true;
    return true;
  });
  may_fill = true;
  while (!taken) {
    (void)runtime().run_some();
    sched_yield();
  }
  EXPECT_TRUE(result == buffers.expected());
  while (!execution->finished()) sched_yield();
  runtime().destroy_stream(stream);
}

TEST(StagedThread, WithoutFlagsOfStreamsTheCallWaits) {
  const Communicator comm = device_communicator();
  const ProgressThread thread;
  runtime().set_stream_flags(false);
  const Stream caller(StreamKind::cuda, runtime().create_stream());
  EXPECT_FALSE(detail::returns_at_once(caller, 0));
  const Buffers buffers(comm, {Operation::allreduce, 100, DatatypeKind::int32});
  buffers.fill();
  const auto execution = staged(comm, buffers, CallKind::blocking, "mpi", caller);
  detail::run_to_end(*execution);
  runtime().run_all();
  expect_right(buffers, "allreduce");
  runtime().set_stream_flags(true);
  runtime().destroy_stream(caller.handle);
}

TEST(StagedFailure, ATimeoutLetsTheStreamGo) {
  const Communicator comm = device_communicator();
  if (comm.size() == 1) GTEST_SKIP() << "nobody to wait for";
  {
    const ProgressThread thread;
    const Buffers buffers(comm, {Operation::allreduce, 1001, DatatypeKind::int32});
    const auto stream = runtime().create_stream();
    const Stream caller(StreamKind::cuda, stream);
    if (comm.rank() != 0) {
      buffers.fill();
      const auto execution = staged(comm, buffers, CallKind::blocking, "mpi", caller, std::chrono::milliseconds(100));
      (void)detail::ProgressEngine::instance().launch(execution);
      runtime().run_all();  // ends only when the flag is open
      EXPECT_THROW(comm.state()->check_usable(), Error);
      while (!execution->finished()) sched_yield();
      EXPECT_EQ(execution->error(), ErrorCode::timeout);
    }
    runtime().destroy_stream(stream);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(StagedFailure, ADevicesErrorIsTheCalls) {
  const Communicator comm = device_communicator();
  const Buffers buffers(comm, {Operation::allreduce, 1001, DatatypeKind::int32});
  buffers.fill();
  const auto execution = staged(comm, buffers, CallKind::blocking, "mpi", {}, std::chrono::milliseconds(300));
  if (comm.rank() == 0) runtime().fail_next("copy");
  try {
    detail::run_to_end(*execution);
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), comm.rank() == 0 ? ErrorCode::cuda : ErrorCode::timeout) << e.what();
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace tutti::test
