// SPDX-License-Identifier: BSD-3-Clause
// The public calls on device memory, without NCCL: staged, or by schedules on the device.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "device/flag.hpp"
#include "example.hpp"

namespace tutti::test {
namespace {

/// Floats in device or managed memory of the stand-in.
class Floats {
 public:
  explicit Floats(std::size_t count, MemoryKind kind = MemoryKind::device)
      : count_(count), memory_(kind, count * sizeof(float)) {}
  [[nodiscard]] float* data() const { return reinterpret_cast<float*>(memory_.data()); }
  [[nodiscard]] std::size_t size() const { return count_; }
  /// Small whole numbers, so that sums are exact in any order.
  void fill(int rank) const {
    const standin::HostAccess access;
    for (std::size_t i = 0; i < count_; ++i) data()[i] = value(rank, i);
  }
  void scribble() const {
    const standin::HostAccess access;
    std::fill_n(data(), count_, -1000.0F);
  }
  [[nodiscard]] std::vector<float> read() const {
    const standin::HostAccess access;
    return {data(), data() + count_};
  }
  [[nodiscard]] Buffer buffer() const { return {data(), count_}; }
  [[nodiscard]] static float value(int rank, std::size_t i) {
    return static_cast<float>((i + static_cast<std::size_t>(rank) * 3) % 17);
  }

 private:
  std::size_t count_;
  Memory memory_;
};

std::vector<float> sums(int size, std::size_t count) {
  std::vector<float> all(count, 0.0F);
  for (int r = 0; r < size; ++r)
    for (std::size_t i = 0; i < count; ++i) all[i] += Floats::value(r, i);
  return all;
}

/// One megafloat and a half: two pieces.
constexpr std::size_t long_count = 1'500'001;

class Calls : public ::testing::Test {
 protected:
  Calls() {
    (void)runtime();
    comm_ = std::make_unique<Communicator>(Communicator::duplicate(MPI_COMM_WORLD));
    stream_ = Stream(StreamKind::cuda, runtime().create_stream());
  }
  void TearDown() override {
    runtime().run_all();
    runtime().destroy_stream(stream_.handle);
    runtime().clear_record();
  }
  [[nodiscard]] Options on_stream(const char* algorithm = "") const {
    return {.stream = stream_, .algorithm = algorithm};
  }
  void fill_late(const Floats& floats) const {
    floats.scribble();
    runtime().enqueue(stream_.handle, "late", [this, &floats, looks = 0]() mutable {
      if (++looks < 20) return false;
      floats.fill(comm_->rank());
      return true;
    });
  }
  /// What the stream finds next, and then destroys.
  [[nodiscard]] std::vector<float> taken(const Floats& floats) const {
    std::vector<float> found;
    runtime().enqueue(stream_.handle, "take", [&] {
      found = floats.read();
      floats.scribble();
      return true;
    });
    runtime().run_all();
    return found;
  }

  std::unique_ptr<Communicator> comm_;
  Stream stream_;
};

/// More memory might wait for the streams that wait for the host.
TEST_F(Calls, StreamsWaitForTheHostWithoutMoreMemory) {
  comm_->prepare_device();
  runtime().clear_record();
  {
    std::vector<detail::device::Flag> flags(16);
    for (detail::device::Flag& flag : flags) flag.close(0);
    for (detail::device::Flag& flag : flags) flag.hold(stream_.handle, 1);
  }
  const auto& calls = runtime().record();
  EXPECT_EQ(std::ranges::count_if(calls, [](const std::string& c) { return c.starts_with("allocate"); }), 0);
}

TEST_F(Calls, EveryWayGivesTheSumOnTheStream) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{1001}, long_count})
    for (const char* algorithm : {"", "staged", "mpi", "ring"}) {
      const Floats in(count);
      const Floats out(count);
      fill_late(in);
      allreduce(*comm_, in.buffer(), out.buffer(), sum, on_stream(algorithm));
      EXPECT_TRUE(taken(out) == sums(comm_->size(), count)) << count << " by " << algorithm;
      fill_late(in);
      allreduce(*comm_, in.buffer(), sum, on_stream(algorithm));
      EXPECT_TRUE(taken(in) == sums(comm_->size(), count)) << count << " in place by " << algorithm;
    }
}

// The host could read managed memory too, but before the stream has written it.
TEST_F(Calls, ManagedMemoryIsReadWhereTheStreamComesToIt) {
  const Floats found(1001, MemoryKind::managed);
  fill_late(found);
  allreduce(*comm_, found.buffer(), sum, on_stream());
  EXPECT_TRUE(taken(found) == sums(comm_->size(), 1001));
  Options declared = on_stream();
  declared.memory = MemoryKind::managed;
  fill_late(found);
  allreduce(*comm_, found.buffer(), sum, declared);
  EXPECT_TRUE(taken(found) == sums(comm_->size(), 1001)) << "declared";
}

TEST_F(Calls, WithoutAStreamTheCallIsDoneWhenItReturns) {
  const Floats in(long_count);
  in.fill(comm_->rank());
  allreduce(*comm_, in.buffer(), sum);
  EXPECT_TRUE(in.read() == sums(comm_->size(), long_count));
}

TEST_F(Calls, NonblockingOnACommunicatorThatIsNotPrepared) {
  const Floats a(5000);
  const Floats b(long_count);
  fill_late(a);
  b.fill(comm_->rank());
  Request first = iallreduce(*comm_, a.buffer(), sum, on_stream());
  Request second = iallreduce(*comm_, b.buffer(), sum, {});
  std::vector<int> ones(3, 1);
  allreduce(*comm_, std::span(ones), sum);
  EXPECT_EQ(ones[2], comm_->size());
  second.wait();
  first.wait();
  EXPECT_TRUE(a.read() == sums(comm_->size(), 5000));
  EXPECT_TRUE(b.read() == sums(comm_->size(), long_count));
  EXPECT_EQ(comm_->state()->device, nullptr);
}

TEST_F(Calls, PreparedWhileSomethingIsOutstanding) {
  const Floats a(5000);
  fill_late(a);
  Request first = iallreduce(*comm_, a.buffer(), sum, on_stream());
  comm_->prepare_device();
  const Floats b(600);
  b.fill(comm_->rank());
  Request second = iallreduce(*comm_, b.buffer(), sum, on_stream());
  second.wait(stream_);
  EXPECT_TRUE(taken(b) == sums(comm_->size(), 600));
  first.wait();
  EXPECT_TRUE(a.read() == sums(comm_->size(), 5000));
  EXPECT_NE(comm_->device_report().find("NCCL: not used"), std::string::npos) << comm_->device_report();
  EXPECT_NE(comm_->device_report().find("NCCL's RAS: none without NCCL"), std::string::npos) << comm_->device_report();
  EXPECT_NE(comm_->device_report().find("progress in MPI: "), std::string::npos) << comm_->device_report();
}

TEST_F(Calls, PersistentOnesStartAgain) {
  for (const char* algorithm : {"", "staged", "ring"}) {
    const Floats in(1234);
    const Floats out(1234);
    Request request = allreduce_init(*comm_, in.buffer(), out.buffer(), sum, on_stream(algorithm));
    for (int i = 0; i < 4; ++i) {
      fill_late(in);
      request.start();
      if (i % 2 == 0)
        request.wait();
      else
        request.wait(stream_);
      EXPECT_TRUE(taken(out) == sums(comm_->size(), 1234)) << algorithm;
    }
  }
}

TEST_F(Calls, CountsOfTheirOwnAndGaps) {
  const auto size = static_cast<std::size_t>(comm_->size());
  std::vector<std::size_t> counts(size);
  std::vector<std::size_t> displs(size);
  for (std::size_t r = 0; r < size; ++r) {
    counts[r] = 10 + r;
    displs[r] = (size - 1 - r) * 40 + 5;
  }
  for (const char* algorithm : {"", "staged", "mpi"}) {
    const Floats in(counts[static_cast<std::size_t>(comm_->rank())]);
    const Floats out(size * 40 + 10);
    fill_late(in);
    out.scribble();
    allgatherv(*comm_, in.buffer(), out.buffer(), counts, displs, on_stream(algorithm));
    std::vector<float> expected(out.size(), -1000.0F);
    for (std::size_t r = 0; r < size; ++r)
      for (std::size_t i = 0; i < counts[r]; ++i) expected[displs[r] + i] = Floats::value(static_cast<int>(r), i);
    EXPECT_TRUE(taken(out) == expected) << algorithm;
  }
}

TEST_F(Calls, HostAndDeviceMemoryShareACommunicator) {
  const Floats in(700);
  for (int i = 0; i < 40; ++i) {
    in.fill(comm_->rank());
    Request request = iallreduce(*comm_, in.buffer(), sum);
    std::vector<int> ones(static_cast<std::size_t>(i) * 50 + 1, 1);
    allreduce(*comm_, std::span(ones), sum);
    ASSERT_EQ(ones[0], comm_->size());
    request.wait();
    ASSERT_TRUE(in.read() == sums(comm_->size(), 700)) << i;
  }
}

TEST_F(Calls, WithTheProgressThreadABlockingCallReturnsAtOnce) {
  comm_->prepare_device();
  Environment::start_progress_thread();
  const Floats in(long_count);
  std::atomic<bool> may_fill{false};
  std::atomic<bool> is_taken{false};
  std::vector<float> found;
  runtime().enqueue(stream_.handle, "late", [&] {
    if (!may_fill) return false;
    in.fill(comm_->rank());
    return true;
  });
  allreduce(*comm_, in.buffer(), sum, on_stream("staged"));
  runtime().enqueue(stream_.handle, "take", [&] {
    found = in.read();
    is_taken = true;
    return true;
  });
  EXPECT_FALSE(is_taken);
  may_fill = true;
  while (!is_taken) {
    (void)runtime().run_some();
    sched_yield();
  }
  EXPECT_TRUE(found == sums(comm_->size(), long_count));
  Environment::stop_progress_thread();
}

TEST_F(Calls, UnderCaptureTheyAreRefused) {
  comm_->prepare_device();
  const Floats in(10);
  runtime().begin_capture(stream_.handle);
  try {
    allreduce(*comm_, in.buffer(), sum, on_stream());
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::not_supported);
    EXPECT_NE(std::string(e.what()).find("capture"), std::string::npos) << e.what();
  }
  runtime().destroy_graph(runtime().end_capture(stream_.handle));
}

TEST_F(Calls, RefuseTheStreamOfEachThread) {
  const Floats data(4);
  Options options = on_stream();
  options.stream.handle = reinterpret_cast<void*>(std::uintptr_t{2});
  try {
    allreduce(*comm_, in_place, data.buffer(), sum, options);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("cudaStreamPerThread"), std::string::npos) << error.what();
  }
  EXPECT_THROW(send(*comm_, data.buffer(), comm_->rank(), 0, options), Error);
}

}  // namespace
}  // namespace tutti::test
