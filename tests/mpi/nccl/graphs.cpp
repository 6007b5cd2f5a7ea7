// SPDX-License-Identifier: BSD-3-Clause
// Operations that are captured into graphs.
#include "device/pool.hpp"
#include "device/traffic.hpp"
#include "mpi/nccl/mpi_calls.hpp"
#include "mpi/nccl/support.hpp"

namespace tutti::test {
namespace {

/// A graph and its launches on the stream of the tests.
class CapturedGraph {
 public:
  template <typename Body>
  explicit CapturedGraph(const Body& body) {
    machine().runtime.begin_capture(machine().stream);
    body();
    graph_ = machine().runtime.end_capture(machine().stream);
  }
  ~CapturedGraph() {
    machine().drain();
    machine().runtime.destroy_graph(graph_);
  }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  void launch() const { machine().runtime.launch(graph_, machine().stream); }

 private:
  int graph_ = 0;
};

/// An allreduce of integers by a way, and one of 16-bit floats between kernels.
class Step {
 public:
  explicit Step(const Communicator& comm) : comm_(comm) { options_.stream = user_stream(); }

  void run(const std::string& algorithm) {
    options_.algorithm = algorithm;
    allreduce(comm_, in_place, device_buffer(data_, DatatypeKind::int32), sum, options_);
  }
  Request start(const std::string& algorithm) {
    options_.algorithm = algorithm;
    return iallreduce(comm_, in_place, device_buffer(data_, DatatypeKind::int32), sum, options_);
  }
  Request prepare(const std::string& algorithm) {
    options_.algorithm = algorithm;
    return allreduce_init(comm_, in_place, device_buffer(data_, DatatypeKind::int32), sum, options_);
  }
  void fill(int factor) { data_.fill_on(machine().stream, ints(count, factor * (comm_.rank() + 1))); }
  void expect(int factor) {
    machine().drain();
    EXPECT_EQ(first_int(data_.content()), sum_of_ranks(comm_, factor));
  }

 private:
  static constexpr std::size_t count = 500;
  const Communicator& comm_;
  DeviceMemory data_{count * sizeof(std::int32_t)};
  Options options_{};
};

const char* const algorithms_in_graphs[] = {"nccl:direct", "nccl:scatter_allgather", "nccl:recursive_doubling"};

TEST(Graphs, ABlockingCallIsLaunchedAgainAndAgain) {
  const Communicator& comm = device_communicators().front();
  for (const char* algorithm : algorithms_in_graphs) {
    Step step(comm);
    step.fill(1);
    step.run(algorithm);
    step.expect(1);
    const CapturedGraph graph([&] { step.run(algorithm); });
    for (int i = 2; i < 5; ++i) {
      step.fill(i);
      graph.launch();
      step.expect(i);
    }
  }
}

TEST(Graphs, ANonblockingCallIsJoinedByTheStream) {
  const Communicator& comm = device_communicators().front();
  for (const char* algorithm : algorithms_in_graphs) {
    Step step(comm);
    step.fill(1);
    step.start(algorithm).wait();
    step.expect(1);
    const CapturedGraph graph([&] { step.start(algorithm).wait(user_stream()); });
    for (int i = 2; i < 5; ++i) {
      step.fill(i);
      graph.launch();
      step.expect(i);
    }
  }
}

TEST(Graphs, APersistentOperationRunsInAndBesideAGraph) {
  const Communicator& comm = device_communicators().front();
  for (const char* algorithm : algorithms_in_graphs) {
    Step step(comm);
    Request request = step.prepare(algorithm);
    step.fill(1);
    request.start();
    request.wait();
    step.expect(1);
    {
      const CapturedGraph graph([&] {
        request.start();
        request.wait(user_stream());
      });
      step.fill(2);
      graph.launch();
      step.expect(2);
      step.fill(3);
      request.start();
      request.wait();
      step.expect(3);
      step.fill(4);
      graph.launch();
      step.expect(4);
    }
    step.fill(5);
    request.start();
    request.wait(user_stream());
    step.expect(5);
    request.wait();
  }
}

TEST(Graphs, OtherCallsGoOnBesideAGraph) {
  const Communicator& comm = device_communicators().front();
  Step captured(comm);
  Step eager(comm);
  captured.fill(1);
  captured.run("nccl:scatter_allgather");
  captured.expect(1);
  const CapturedGraph graph([&] { captured.run("nccl:scatter_allgather"); });
  for (int i = 1; i < 5; ++i) {
    captured.fill(i);
    eager.fill(10 * i);
    graph.launch();
    eager.run("nccl:scatter_allgather");
    captured.expect(i);
    eager.expect(10 * i);
  }
}

TEST(Graphs, TheirMemoryComesBack) {
  const Communicator& comm = device_communicators().front();
  const auto& pool = detail::device::Pool::of(MemoryKind::device, 0);
  Step step(comm);
  std::size_t held = 0;
  for (int i = 1; i < 6; ++i) {
    step.fill(1);
    step.run("nccl:scatter_allgather");
    step.expect(1);
    const CapturedGraph graph([&] { step.run("nccl:scatter_allgather"); });
    graph.launch();
    machine().drain();
    if (i == 2) held = pool.held_bytes();
  }
  EXPECT_EQ(pool.held_bytes(), held);
  expect_no_graphs(detail::nccl::state_of(*comm.state())->comm());
}

TEST(Graphs, TheCommunicatorOutlivesItsGraphs) {
  auto comm = std::make_unique<Communicator>(Communicator::duplicate(MPI_COMM_WORLD));
  comm->prepare_device();
  Step step(*comm);
  step.fill(1);
  step.run("nccl:direct");
  step.expect(1);
  const CapturedGraph graph([&] { step.run("nccl:direct"); });
  EXPECT_EQ(detail::nccl::state_of(*comm->state())->comm().live_graphs(), 1);
}

/// The host MPI may query and allocate on a device inside any call.
TEST(Graphs, MpiProgressesBesideACapture) {
  const Communicator& comm = device_communicators().front();
  Step step(comm);
  step.fill(1);
  step.run("nccl:direct");
  step.expect(1);
  for (const auto mode : {detail::device::CaptureMode::global, detail::device::CaptureMode::thread_local_}) {
    const int before = mpi_calls_in_captures();
    machine().nccl.set_in_progress(5);
    machine().runtime.begin_capture(machine().stream, mode);
    step.run("nccl:direct");
    Request request = ibarrier(comm);
    progress();
    detail::device::give_way();
    request.wait();
    barrier(comm);
    machine().nccl.set_in_progress(0);
    const int graph = machine().runtime.end_capture(machine().stream);
    EXPECT_EQ(mpi_calls_in_captures(), before) << "MPI was called without the exchange of the mode";
    machine().runtime.destroy_graph(graph);
  }
}

TEST(Graphs, FirstUseOfAKernelIsRefusedAndHarmless) {
  const Communicator& comm = device_communicators().front();
  Step step(comm);
  step.fill(1);
  step.run("nccl:scatter_allgather");
  step.expect(1);
  const DeviceMemory data(64);
  Options options;
  options.stream = Stream(StreamKind::cuda, machine().runtime.create_stream());
  options.algorithm = "nccl:scatter_allgather";
  machine().runtime.begin_capture(options.stream.handle);
  try {
    allreduce(comm, in_place, device_buffer(data, DatatypeKind::int16), prod, options);
    ADD_FAILURE() << "a kernel was loaded under capture";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::not_supported);
    EXPECT_NE(std::string(e.what()).find("capture"), std::string::npos) << e.what();
  }
  machine().runtime.destroy_graph(machine().runtime.end_capture(options.stream.handle));
  step.fill(2);
  step.run("nccl:scatter_allgather");
  step.expect(2);
}

}  // namespace
}  // namespace tutti::test
