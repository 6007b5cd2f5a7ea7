// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking calls whose launch waits for the peers, because NCCL has to connect: the call returns, later steps finish
// the launch, and whatever is launched meanwhile comes after it.
#include "core/config.hpp"
#include "device/traffic.hpp"
#include "mpi/nccl/support.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using detail::nccl::Result;

/// Communicators that connect anew at each first launch of a kind. Rank 0 comes first, and the others only once it has
/// returned from its calls.
class FirstLaunches : public ::testing::Test {
 protected:
  FirstLaunches() {
    (void)device_communicators();
    for (int i = 0; i < 2; ++i) {
      comms_.push_back(Communicator::duplicate(MPI_COMM_WORLD));
      comms_.back().prepare_device();
    }
    machine().nccl.forget_connections();
    options_.stream = user_stream();
    meet();
  }
  ~FirstLaunches() override {
    machine().drain();
    meet();
  }
  [[nodiscard]] const Communicator& comm() const { return comms_.front(); }
  [[nodiscard]] bool is_first() const { return comm().rank() == 0; }
  [[nodiscard]] bool is_alone() const { return comm().size() == 1; }

  /// Where the others come, `late`, the first rank has begun.
  template <typename Body>
  void begin(const Body& body) const {
    if (!is_first()) meet();
    body();
    if (is_first()) meet();
  }
  void fill(const DeviceMemory& data, int factor = 1) const {
    data.fill_on(machine().stream, ints(count, factor * (comm().rank() + 1)));
  }
  [[nodiscard]] static Buffer buffer(const DeviceMemory& data) { return device_buffer(data, DatatypeKind::int32); }
  [[nodiscard]] Request sum_up(const Communicator& over, const DeviceMemory& data) const {
    return iallreduce(over, in_place, buffer(data), sum, options_);
  }
  void expect_sum(const DeviceMemory& data, int factor = 1) const {
    EXPECT_EQ(data.content(), ints(count, sum_of_ranks(comm(), factor)));
  }

  static constexpr std::size_t count = 1000;
  std::vector<Communicator> comms_{};
  Options options_{};
  DeviceMemory data_{count * sizeof(std::int32_t)};
  DeviceMemory other_{count * sizeof(std::int32_t)};
};

TEST_F(FirstLaunches, OfANonblockingCallWaitForNobody) {
  fill(data_);
  Request request;
  begin([&] { request = sum_up(comm(), data_); });
  request.wait();
  expect_sum(data_);
}

/// Each has a launch of its own, and all go on in the order of their starts, which the stand-in compares.
TEST_F(FirstLaunches, OfSeveralCallsKeepTheirOrder) {
  const DeviceMemory narrow(std::size_t{1} << 21U);
  const DeviceMemory all(count * sizeof(std::int32_t) * static_cast<std::size_t>(comm().size()));
  fill(data_);
  fill(other_, 2);
  narrow.fill_on(machine().stream, std::vector<std::byte>(narrow.size()));
  const auto sum_narrow = [&](const Communicator& over) {
    return iallreduce(over, in_place, device_buffer(narrow, DatatypeKind::bfloat16), sum, options_);
  };
  options_.algorithm = "nccl:wide";
  sum_narrow(device_communicators().front()).wait();  // kernels and scratch memory wait until nothing is in flight
  options_.algorithm = {};
  std::vector<Request> requests;
  begin([&] {
    requests.push_back(sum_up(comms_[0], data_));
    requests.push_back(sum_up(comms_[1], other_));
    options_.algorithm = "nccl:wide";
    requests.push_back(sum_narrow(comms_[0]));
    options_.algorithm = {};
    requests.push_back(iallgather(comms_[1], buffer(data_), device_buffer(all, DatatypeKind::int32), options_));
    requests.push_back(ibcast(comms_[0], buffer(other_), 0, options_));
  });
  for (std::size_t i = requests.size(); i-- > 0;) requests[i].wait();
  expect_sum(data_);
  expect_sum(other_, 2);
  EXPECT_EQ(first_int(all.content()), sum_of_ranks(comm(), 1));
}

/// wait(stream) waits for the launch only, since there is nothing before it that the stream could wait for.
TEST_F(FirstLaunches, AreThroughBeforeAStreamIsOrderedAfterThem) {
  if (is_alone()) GTEST_SKIP() << "one rank waits for nobody";
  fill(data_);
  Request request;
  begin([&] {
    request = sum_up(comm(), data_);
    EXPECT_FALSE(is_first() && request.test(user_stream())) << "its peers have not come";
  });
  const Gate gate(machine().stream);
  request.wait(user_stream());
  std::vector<std::byte> result;
  machine().runtime.run_host(machine().stream, [&] { result = data_.content(); });
  EXPECT_TRUE(result.empty());
  gate.open->store(true);
  machine().drain();
  EXPECT_EQ(result, ints(count, sum_of_ranks(comm(), 1)));
}

/// A blocking call's work precedes what the program puts on its stream afterwards; so it waits for its turn.
TEST_F(FirstLaunches, PrecedeABlockingCallOnAStream) {
  fill(data_);
  fill(other_, 2);
  Request request;
  begin([&] { request = sum_up(comms_[0], data_); });
  allreduce(comms_[1], in_place, buffer(other_), sum, options_);
  std::vector<std::byte> result;
  machine().runtime.run_host(machine().stream, [&] { result = other_.content(); });
  machine().drain();
  EXPECT_EQ(result, ints(count, sum_of_ranks(comm(), 2)));
  request.wait();
  expect_sum(data_);
}

/// So does a call under capture, whose launch is part of the graph only if it is made before the capture's end.
TEST_F(FirstLaunches, PrecedeACapture) {
  fill(data_);
  fill(other_, 2);
  Request request;
  begin([&] { request = sum_up(comms_[0], data_); });
  machine().runtime.begin_capture(machine().stream);
  allreduce(comms_[1], in_place, buffer(other_), sum, options_);
  const int graph = machine().runtime.end_capture(machine().stream);
  machine().runtime.launch(graph, machine().stream);
  machine().drain();
  expect_sum(other_, 2);
  request.wait();
  expect_sum(data_);
  machine().runtime.destroy_graph(graph);
}

/// The caller's stream goes on between the start and the launch; the work does not wait for what comes there later, but
/// where the streams share a hardware queue.
TEST_F(FirstLaunches, FollowTheStreamAsItWasAtTheStart) {
  const char* queues = std::getenv("TUTTI_TEST_HARDWARE_QUEUES");
  if (queues != nullptr && std::atoi(queues) < 8) GTEST_SKIP() << "streams share hardware queues";
  fill(data_);
  Request request;
  begin([&] { request = sum_up(comm(), data_); });
  const Gate gate(machine().stream);
  Request later = sum_up(comms_[1], other_);
  request.wait();
  expect_sum(data_);
  gate.open->store(true);
  later.wait();
}

TEST_F(FirstLaunches, OfAPersistentCall) {
  Request request = allreduce_init(comm(), in_place, buffer(data_), sum, options_);
  machine().nccl.forget_connections();
  meet();
  for (int i = 1; i < 4; ++i) {
    fill(data_, i);
    begin([&] { request.start(); });
    request.wait();
    expect_sum(data_, i);
  }
}

TEST_F(FirstLaunches, GoOnWithoutTheirRequest) {
  fill(data_);
  begin([&] { (void)sum_up(comm(), data_); });
  std::vector<Request> others;
  others.push_back(sum_up(comm(), other_));
  others.back().wait();
  machine().drain();
  expect_sum(data_);
}

/// Memory of the device is asked for only once NCCL has launched and the device is done.
TEST_F(FirstLaunches, AreWaitedForByAllocations) {
  fill(data_);
  Request request;
  begin([&] { request = sum_up(comm(), data_); });
  const Allocation memory = allocate(comms_[1], std::size_t{1} << 24U, MemoryKind::device);
  EXPECT_NE(memory.data(), nullptr);
  request.wait();
  expect_sum(data_);
  machine().drain();
}

TEST_F(FirstLaunches, EndByTheTimeoutOfTheCall) {
  if (is_alone()) GTEST_SKIP() << "one rank waits for nobody";
  if (is_first()) {
    options_.timeout = 200ms;
    Request request = sum_up(comm(), data_);
    options_.timeout = 20s;  // the first one's is over before
    Request behind = sum_up(comm(), other_);
    const std::string text = failure_of(ErrorCode::timeout, [&] { request.wait(); });
    EXPECT_NE(text.find("not complete after 200 ms"), std::string::npos) << text;
    (void)failure_of(ErrorCode::aborted, [&] { behind.wait(); });
    EXPECT_TRUE(detail::nccl::state_of(*comm().state())->comm().is_aborted());
  }
  meet();
  EXPECT_TRUE(detail::device::Traffic::of(0).is_idle());
  options_.timeout = 0ms;
  fill(other_);
  sum_up(comms_[1], other_).wait();
  expect_sum(other_);
}

TEST_F(FirstLaunches, EndByAnAbort) {
  if (is_alone()) GTEST_SKIP() << "one rank waits for nobody";
  if (is_first()) {
    Request request = sum_up(comm(), data_);
    comms_.front().abort("the test asks for it");
    const std::string text = failure_of(ErrorCode::aborted, [&] { request.wait(); });
    EXPECT_NE(text.find("the test asks for it"), std::string::npos) << text;
  }
  meet();
  fill(other_);
  sum_up(comms_[1], other_).wait();
  expect_sum(other_);
}

TEST_F(FirstLaunches, ThatFailSayWhat) {
  if (is_alone()) GTEST_SKIP() << "one rank waits for nobody";
  if (is_first()) {
    Request request = sum_up(comms_[1], other_);
    Request behind = sum_up(comms_[0], data_);
    while (machine().nccl.in_flight() == 0) sched_yield();  // another thread may launch
    machine().nccl.fail_next("all_reduce", Result::unhandled_cuda_error);
    meet();
    const std::string text = failure_of(ErrorCode::nccl, [&] { behind.wait(); });
    EXPECT_NE(text.find("ncclAllReduce"), std::string::npos) << text;
    request.wait();
  } else {
    meet();
    sum_up(comms_[1], other_).wait();
  }
  meet();
}

}  // namespace
}  // namespace tutti::test
