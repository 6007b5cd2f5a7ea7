// SPDX-License-Identifier: BSD-3-Clause
// Order on streams, outstanding operations, several communicators, and what goes to NCCL.
#include <algorithm>
#include <array>
#include <atomic>

#include "backends/list.hpp"
#include "backends/nccl/nccl_execution.hpp"
#include "call/execution.hpp"
#include "device/pool.hpp"
#include "device/traffic.hpp"
#include "mpi/nccl/support.hpp"
#include "mpi/nccl/twins.hpp"

namespace tutti::test {
namespace {

using detail::device::Traffic;

TEST(Streams, BlockingCallsReturnBeforeTheirWorkIsDone) {
  const Communicator& comm = device_communicators().front();
  for (const DatatypeKind type : {DatatypeKind::int32, DatatypeKind::logical32}) {  // one collective, and groups
    const ReduceOp op = type == DatatypeKind::int32 ? sum : lor;
    const DeviceMemory data(64 * sizeof(std::int32_t));
    Options options;
    options.stream = user_stream();
    allreduce(comm, in_place, device_buffer(data, type), op, options);  // whatever must be prepared, is
    machine().drain();
    const Gate gate(machine().stream);
    data.fill_on(machine().stream, ints(64, comm.rank() + 1));
    allreduce(comm, in_place, device_buffer(data, type), op, options);
    std::vector<std::byte> result;
    machine().runtime.run_host(machine().stream, [&] { result = data.content(); });
    // One rank has no messages for a schedule.
    EXPECT_EQ(Traffic::of(0).is_idle(), comm.size() == 1 && type == DatatypeKind::logical32);
    EXPECT_TRUE(result.empty());
    *gate.open = true;
    machine().drain();
    EXPECT_TRUE(Traffic::of(0).is_idle());
    EXPECT_EQ(first_int(result), type == DatatypeKind::int32 ? sum_of_ranks(comm, 1) : 1);
  }
}

TEST(Streams, ManyOperationsOutstanding) {
  const Communicator& comm = device_communicators().front();
  constexpr std::size_t many = 12;
  constexpr std::size_t count = 100;
  std::vector<std::unique_ptr<DeviceMemory>> memory;
  for (std::size_t k = 0; k < many; ++k) memory.push_back(std::make_unique<DeviceMemory>(count * sizeof(std::int32_t)));
  Options options;
  options.stream = user_stream();
  std::vector<Request> requests;
  for (std::size_t k = 0; k < many; ++k) {
    memory[k]->fill_on(machine().stream, ints(count, static_cast<int>(k + 1) * (comm.rank() + 1)));
    options.algorithm = k % 3 == 0 ? "nccl:scatter_allgather" : k % 3 == 1 ? "" : "nccl:recursive_doubling";
    requests.push_back(iallreduce(comm, in_place, device_buffer(*memory[k], DatatypeKind::int32), sum, options));
  }
  for (std::size_t k = many; k-- > 0;) {
    requests[k].wait();
    EXPECT_EQ(first_int(memory[k]->content()), sum_of_ranks(comm, static_cast<int>(k + 1)));
  }
  machine().drain();
}

TEST(Streams, RequestsThatAreDroppedGoOn) {
  const Communicator& comm = device_communicators().front();
  const DeviceMemory data(1000 * sizeof(std::int32_t));
  Options options;
  options.stream = user_stream();
  options.algorithm = "nccl:scatter_allgather";
  std::vector<std::byte> result;
  for (int i = 1; i < 20; ++i) {
    data.fill_on(machine().stream, ints(1000, i * (comm.rank() + 1)));
    iallreduce(comm, in_place, device_buffer(data, DatatypeKind::int32), sum, options).wait(options.stream);
    machine().runtime.run_host(machine().stream, [&, i] {
      EXPECT_EQ(first_int(data.content()), sum_of_ranks(comm, i));
      result = data.content();
    });
  }
  machine().drain();
  EXPECT_EQ(first_int(result), sum_of_ranks(comm, 19));
}

TEST(Streams, CommunicatorsTakeTurns) {
  const auto& comms = device_communicators();
  std::vector<std::unique_ptr<DeviceMemory>> memory;
  for (std::size_t k = 0; k < comms.size(); ++k)
    memory.push_back(std::make_unique<DeviceMemory>(50 * sizeof(std::int32_t)));
  Options options;
  options.stream = user_stream();
  for (int i = 1; i <= 4; ++i) {
    std::vector<Request> requests;
    for (std::size_t k = 0; k < comms.size(); ++k) {
      memory[k]->fill_on(machine().stream, ints(50, i * (comms[k].rank() + 1)));
      const Buffer data = device_buffer(*memory[k], DatatypeKind::int32);
      options.algorithm = i % 2 == 0 ? "nccl:direct" : "nccl:recursive_doubling";
      requests.push_back(iallreduce(comms[k], in_place, data, sum, options));
    }
    for (std::size_t k = 0; k < comms.size(); ++k) {
      requests[k].wait();
      EXPECT_EQ(first_int(memory[k]->content()), sum_of_ranks(comms[k], i));
    }
  }
  machine().drain();
}

/// By NCCL itself from 2.26 on with NCCL_LAUNCH_ORDER_IMPLICIT=1, else by events between the streams:
/// the first work cannot begin yet, and the second could.
TEST(Streams, WorksOfTwoCommunicatorsBeginInTheOrderOfTheirLaunches) {
  const auto& comms = device_communicators();
  if (comms.size() == 1) GTEST_SKIP() << "for several ranks";
  standin::Runtime& runtime = machine().runtime;
  Stream other{StreamKind::cuda, runtime.create_stream()};
  while (runtime.queue_of(other.handle) == runtime.queue_of(machine().stream)) other.handle = runtime.create_stream();
  const DeviceMemory first(50 * sizeof(std::int32_t));
  const DeviceMemory second(50 * sizeof(std::int32_t));
  first.fill(ints(50, comms[0].rank() + 1));
  second.fill(ints(50, 2 * (comms[1].rank() + 1)));
  const Gate gate(machine().stream);
  allreduce(comms[0], in_place, device_buffer(first, DatatypeKind::int32), sum, {.stream = user_stream()});
  allreduce(comms[1], in_place, device_buffer(second, DatatypeKind::int32), sum, {.stream = other});
  for (int round = 0; round < 20; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 20; ++i) {
      (void)runtime.run_some();
      progress();
    }
  }
  EXPECT_EQ(machine().nccl.in_flight(), 2);
  gate.open->store(true);
  machine().drain();
  EXPECT_EQ(first_int(first.content()), sum_of_ranks(comms[0], 1));
  EXPECT_EQ(first_int(second.content()), sum_of_ranks(comms[1], 2));
  runtime.destroy_stream(other.handle);
}

/// NCCL connects at the first launch of a kind, which is in progress until the peers launch too; here they wait for
/// another operation first.
TEST(Streams, AFirstLaunchProgressesOtherOperations) {
  const Communicator& comm = device_communicators().front();
  machine().nccl.forget_connections();
  meet();
  constexpr std::size_t many = 200'000;
  std::vector<int> host(many, 1);
  const DeviceMemory data(10 * sizeof(std::int32_t));
  data.fill(ints(10, comm.rank() + 1));
  Options options;
  options.stream = user_stream();
  options.timeout = std::chrono::seconds(10);
  options.algorithm = "nccl:direct";
  const auto on_device = [&] { allreduce(comm, in_place, device_buffer(data, DatatypeKind::int32), sum, options); };
  Options in_rounds;
  in_rounds.algorithm = "mpi:ring";
  Request request = iallreduce(comm, in_place, Buffer(host.data(), host.size()), sum, in_rounds);
  if (comm.rank() == 0) on_device();
  request.wait();
  if (comm.rank() > 0) on_device();
  machine().drain();
  EXPECT_EQ(host.back(), comm.size());
  EXPECT_EQ(first_int(data.content()), sum_of_ranks(comm, 1));
}

/// A nonblocking call does not wait for its peers, since prepare_device() has connected NCCL.
TEST(Streams, AFirstNonblockingCallReturnsBeforeItsPeersCome) {
  (void)device_communicators();
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  comm.prepare_device();
  const DeviceMemory data(10 * sizeof(std::int32_t));
  Options options;
  options.stream = user_stream();
  options.timeout = std::chrono::seconds(10);
  for (const char* algorithm : {"nccl:direct", "nccl:scatter_allgather"}) {
    options.algorithm = algorithm;
    data.fill(ints(10, comm.rank() + 1));
    if (comm.rank() > 0) meet();
    Request request = iallreduce(comm, in_place, device_buffer(data, DatatypeKind::int32), sum, options);
    if (comm.rank() == 0) meet();
    request.wait();
    machine().drain();
    EXPECT_EQ(first_int(data.content()), sum_of_ranks(comm, 1));
  }
}

TEST(Streams, TheDefaultStreamIsAStream) {
  const Communicator& comm = device_communicators().front();
  const DeviceMemory data(10 * sizeof(std::int32_t));
  Options options;
  options.stream = Stream(StreamKind::cuda, nullptr);
  data.fill_on(nullptr, ints(10, comm.rank() + 1));
  allreduce(comm, in_place, device_buffer(data, DatatypeKind::int32), sum, options);
  int got = 0;
  machine().runtime.run_host(nullptr, [&] { got = first_int(data.content()); });
  machine().drain();
  EXPECT_EQ(got, sum_of_ranks(comm, 1));
}

std::size_t times_called(const std::string& name) {
  const auto& record = machine().nccl.record();
  return static_cast<std::size_t>(
      std::ranges::count_if(record, [&](const std::string& call) { return call.starts_with(name + "("); }));
}

TEST(Groups, ARoundIsOneAndEmptyMessagesAreNone) {
  const Communicator& comm = device_communicators().front();
  const auto size = static_cast<std::size_t>(comm.size());
  std::vector<std::size_t> counts(size, 0);
  std::vector<std::size_t> displs(size);
  for (std::size_t r = 0; r < size; ++r) displs[r] = r * 5;
  const DeviceMemory send(size * 5 * 4);
  const DeviceMemory recv(size * 5 * 4);
  Options options;
  options.stream = user_stream();
  const auto exchange = [&] {
    machine().nccl.clear_record();
    alltoallv(comm, device_buffer(send, DatatypeKind::int32), counts, displs, device_buffer(recv, DatatypeKind::int32),
              counts, displs, options);
    machine().drain();
  };
  exchange();
  EXPECT_EQ(times_called("group_start") + times_called("send") + times_called("recv"), 0U);
  std::ranges::fill(counts, 3);
  exchange();
  EXPECT_EQ(times_called("group_start"), size > 1 ? 1U : 0U);
  EXPECT_EQ(times_called("send"), size - 1);
  EXPECT_EQ(times_called("recv"), size - 1);
}

TEST(Groups, OneRoundingTakesTwoLaunches) {
  const Communicator& comm = device_communicators().front();
  const DeviceMemory data(std::size_t{1} << 22U);
  Options options;
  options.stream = user_stream();
  allreduce(comm, in_place, device_buffer(data, DatatypeKind::bfloat16), sum, options);
  machine().drain();
  machine().nccl.clear_record();
  allreduce(comm, in_place, device_buffer(data, DatatypeKind::bfloat16), sum, options);
  machine().drain();
  EXPECT_EQ(times_called("all_reduce"), 0U);
  EXPECT_EQ(times_called("group_start"), comm.size() > 1 ? 2U : 0U);
  options.accumulation = Accumulation::backend;
  machine().nccl.clear_record();
  allreduce(comm, in_place, device_buffer(data, DatatypeKind::bfloat16), sum, options);
  machine().drain();
  EXPECT_EQ(times_called("all_reduce"), 1U);
  EXPECT_EQ(times_called("group_start"), 0U);
}

TEST(Pools, RepeatedCallsTakeNoMoreMemory) {
  const Communicator& comm = device_communicators().front();
  const DeviceMemory data(100'000);
  Options options;
  options.stream = user_stream();
  const auto& pool = detail::device::Pool::of(MemoryKind::device, 0);
  std::size_t held = 0;
  for (int i = 0; i < 10; ++i) {
    allreduce(comm, in_place, device_buffer(data, DatatypeKind::bfloat16), sum, options);
    machine().drain();
    if (i == 1) held = pool.held_bytes();
  }
  EXPECT_EQ(pool.held_bytes(), held);
}

/// The input of an alltoall in place is saved, and what saves it is in use until the stream has passed: here the second
/// call saves its input first, and sends it last.
TEST(Pools, MemoryOfACallThatHasReturnedIsNotGivenOutAgain) {
  const Communicator& comm = device_communicators().front();
  if (comm.size() == 1) GTEST_SKIP() << "one rank saves nothing";
  const auto size = static_cast<std::size_t>(comm.size());
  const std::size_t count = 3'000'000 / size * size;  // longer than what other calls have left in the pool
  auto& pool = detail::device::Pool::of(MemoryKind::device, 0);
  pool.reserve(count * 4, 1);  // taken first
  pool.reserve(count * 8, 1);  // for the second call: while NCCL works there is no more
  const DeviceMemory first(count * 4);
  const DeviceMemory second(count * 4);
  const auto other_stream = machine().runtime.create_stream();
  const auto exchange = [&](const DeviceMemory& memory, void* stream, int value) {
    Options options;
    options.stream = Stream(StreamKind::cuda, stream);
    options.algorithm = "nccl:direct";
    memory.fill_on(stream, ints(count, value));
    alltoall(comm, in_place, device_buffer(memory, DatatypeKind::int32), options);
  };
  const Gate gate(machine().stream);
  exchange(first, machine().stream, 1);
  exchange(second, other_stream, 2);
  for (int i = 0; i < 50; ++i) (void)machine().runtime.run_some();
  *gate.open = true;
  machine().drain();
  EXPECT_EQ(first.content(), ints(count, 1));
  EXPECT_EQ(second.content(), ints(count, 2));
  machine().runtime.destroy_stream(other_stream);
}

std::shared_ptr<const detail::Plan> barrier_plan(const Communicator& comm, const char* algorithm,
                                                 detail::CallKind kind) {
  auto plan = std::make_shared<detail::Plan>();
  plan->signature.operation = Operation::barrier;
  plan->signature.memory = detail::MemoryClass::device;
  plan->signature.kind = kind;
  plan->backend = &detail::nccl_backend;
  if (algorithm == nullptr) return plan;
  plan->algorithm = schedules::find_algorithm(Operation::barrier, algorithm);
  schedules::Problem problem;
  problem.rank = comm.rank();
  problem.size = comm.size();
  plan->schedule = std::make_shared<const schedules::Schedule>(plan->algorithm->generate(problem));
  return plan;
}

TEST(Barrier, EndsWhenAllStreamsHaveComeToIt) {
  const Communicator& comm = device_communicators().front();
  for (const char* algorithm : {static_cast<const char*>(nullptr), "dissemination", "dissemination4", "binomial"}) {
    std::unique_ptr<Gate> gate;
    if (comm.rank() == comm.size() - 1) gate = std::make_unique<Gate>(machine().stream);
    detail::NcclExecution barrier(comm.state(), barrier_plan(comm, algorithm, detail::CallKind::blocking), {},
                                  user_stream(), std::chrono::nanoseconds(0));
    detail::run_to_end(barrier);
    std::atomic<bool> is_over = false;
    machine().runtime.run_host(machine().stream, [&] { is_over = true; });
    for (int i = 0; i < 300; ++i) {
      (void)machine().runtime.run_some();
      sched_yield();
    }
    EXPECT_FALSE(is_over && comm.size() > 1) << "a rank had not come";
    meet();
    if (gate) *gate->open = true;
    machine().drain();
    EXPECT_TRUE(is_over);
  }
}

}  // namespace
}  // namespace tutti::test
