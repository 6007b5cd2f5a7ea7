// SPDX-License-Identifier: BSD-3-Clause
// Device buffers without NCCL: through pinned memory, or by schedules on the device over MPI; several ranks share one
// GPU. Device point-to-point.
#include <tutti/tutti.hpp>

#include "gpu/arrays.hpp"
#include "gpu/trial.hpp"

namespace tutti::test::gpu {
namespace {

using commbench::all_operations;

class Staging : public OnDevice {};

/// Sizes of one piece and of many.
std::vector<std::size_t> counts() {
  return is_standin() ? std::vector<std::size_t>{1, 5003, 300'007} : std::vector<std::size_t>{1, 5003, 5'000'011};
}

void expect_right(const std::string& algorithm, Mode mode, bool streamed) {
  const Communicator& comm = device_world();
  for (const Operation operation : all_operations) {
    if (operation == Operation::barrier) continue;
    for (const std::size_t count : counts()) {
      const Point point = point_of(operation, DatatypeKind::float32, sum_of(operation), count, comm.size());
      Trial trial(comm, point, {mode, streamed, false}, algorithm);
      for (int i = 1; i <= 2; ++i) EXPECT_EQ(trial.run(static_cast<std::uint64_t>(i)), "") << algorithm;
    }
  }
}

TEST_F(Staging, StagedCallsInAllModes) {
  for (const Mode mode : {Mode::blocking, Mode::nonblocking, Mode::persistent})
    for (const bool streamed : {false, true}) expect_right("staged", mode, streamed);
}

TEST_F(Staging, SchedulesOnTheDevice) {
  for (const Mode mode : {Mode::blocking, Mode::nonblocking, Mode::persistent})
    for (const bool streamed : {false, true}) expect_right("mpi", mode, streamed);
}

// A communicator that was never prepared makes nonblocking calls through host memory.
TEST_F(Staging, NonblockingCallsNeedNoPreparation) {
  const auto fresh = Communicator::duplicate(MPI_COMM_WORLD);
  const DeviceArray<float> x(filled(10'007, static_cast<float>(fresh.rank() + 1)));
  Request request = iallreduce(fresh, x.data(), x.size(), sum);
  request.wait();
  EXPECT_EQ(x.read(), filled(10'007, static_cast<float>(fresh.size() * (fresh.size() + 1) / 2)));
}

// A user's function works on the host only: such calls are staged.
TEST_F(Staging, UserFunctions) {
  const auto add = [](const void* in, void* inout, std::size_t count, Datatype, void*) {
    for (std::size_t i = 0; i < count; ++i) static_cast<float*>(inout)[i] += static_cast<const float*>(in)[i];
  };
  const DeviceArray<float> x(filled(1001, 2.0F));
  allreduce(device_world(), x.data(), x.size(), ReduceOp::user(add));
  EXPECT_EQ(x.read(), filled(1001, 2.0F * static_cast<float>(device_world().size())));
}

TEST_F(Staging, PointToPointGoesRound) {
  const Communicator& comm = device_world();
  const int next = (comm.rank() + 1) % comm.size();
  const int previous = (comm.rank() + comm.size() - 1) % comm.size();
  for (const std::size_t count : counts()) {
    const DeviceArray<int> out(filled(count, comm.rank()));
    const DeviceArray<int> in(filled(count, -1));
    Request arriving = irecv(comm, Buffer(in.data(), count), previous, 3);
    send(comm, ConstBuffer(out.data(), count), next, 3);
    arriving.wait();
    EXPECT_EQ(in.read(), filled(count, previous));
    const DeviceArray<int> back(filled(count, -1));
    Request leaving = isend(comm, ConstBuffer(in.data(), count), previous, 4);
    recv(comm, Buffer(back.data(), count), next, 4);
    leaving.wait();
    EXPECT_EQ(back.read(), filled(count, comm.rank()));
  }
}

// What is on the stream before a send is done before it.
TEST_F(Staging, PointToPointFollowsTheStream) {
  const Communicator& comm = device_world();
  if (comm.size() < 2) GTEST_SKIP() << "skipped: needs two ranks";
  const std::size_t count = 100'003;
  const DeviceStream stream;
  const DeviceArray<int> source(filled(count, comm.rank() + 5));
  const DeviceArray<int> message(filled(count, -1));
  Options options;
  options.stream = stream.stream();
  detail::device::required_runtime("a test").copy(message.data(), source.data(), count * sizeof(int), stream.handle());
  const bool is_even = comm.rank() % 2 == 0;
  const int peer = is_even ? comm.rank() + 1 : comm.rank() - 1;
  if (peer >= comm.size()) {
    stream.wait();
    return;
  }
  if (is_even) {
    send(comm, ConstBuffer(message.data(), count), peer, 5, options);
  } else {
    const DeviceArray<int> copy(filled(count, -1));
    recv(comm, Buffer(message.data(), count), peer, 5, options);
    detail::device::required_runtime("a test").copy(copy.data(), message.data(), count * sizeof(int), stream.handle());
    stream.wait();
    EXPECT_EQ(copy.read(), filled(count, peer + 5));
  }
  stream.wait();
}

}  // namespace
}  // namespace tutti::test::gpu
