// SPDX-License-Identifier: BSD-3-Clause
// What a call costs before its work runs on the device, as a count of calls of CUDA and NCCL: each takes 0.05 to 0.5
// us, a thread that is made and joined 10 to 20.
#include <algorithm>
#include <thread>

#include "core/config.hpp"
#include "mpi/nccl/support.hpp"

namespace tutti::test {
namespace {

/// A call on memory whose kind is declared.
class LaunchPath : public ::testing::Test {
 protected:
  LaunchPath() {
    options_.stream = user_stream();
    options_.memory = MemoryKind::device;
  }
  void call(const Options& options, DatatypeKind type = DatatypeKind::int32) const {
    allreduce(comm(), in_place, Buffer(data_.data(), count, type), sum, options);
  }
  /// Counts from now on; whatever is made at a first call, is.
  void warm_up(const Options& options, DatatypeKind type = DatatypeKind::int32) const {
    for (int i = 0; i < 3; ++i) {
      call(options, type);
      machine().drain();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the library looks now and then
    progress();
    machine().runtime.clear_record();
    machine().nccl.clear_record();
  }
  static std::size_t cuda(const std::string& name) {
    const auto& record = machine().runtime.record();
    const auto is_it = [&](const std::string& line) { return line == name || line.starts_with(name + " "); };
    return static_cast<std::size_t>(std::ranges::count_if(record, is_it)) + machine().runtime.questions(name);
  }
  static const Communicator& comm() { return device_communicators().front(); }

  static constexpr std::size_t count = 100;
  DeviceMemory data_{count * sizeof(std::int32_t)};
  Options options_{};
};

TEST_F(LaunchPath, IsOneCaptureQueryOneLaunchAndOneEvent) {
  if (!detail::config().nccl_blocking) GTEST_SKIP() << "NCCL launches in a thread of its own";
  warm_up(options_);
  call(options_);
  EXPECT_EQ(cuda("capture_of"), 1U);
  EXPECT_EQ(cuda("inspect"), 0U) << "the memory was declared";
  EXPECT_EQ(cuda("record"), 1U);
  EXPECT_EQ(cuda("wait_event"), 0U);
  EXPECT_EQ(cuda("is_complete"), 0U);
  EXPECT_EQ(cuda("is_idle"), 0U);
  EXPECT_EQ(cuda("create_event"), 0U);
  EXPECT_EQ(cuda("allocate"), 0U);
  EXPECT_EQ(cuda("exchange_capture_mode"), 0U);
  EXPECT_LE(cuda("current_device"), 3U) << "a thread's variable";
  EXPECT_EQ(machine().nccl.record(), std::vector<std::string>{"all_reduce(count=100, int32, sum)"});
  EXPECT_LE(machine().nccl.questions(), 1U);
  EXPECT_EQ(machine().nccl.last_thread(), std::this_thread::get_id()) << "another thread launched";
  machine().drain();
}

/// Copies and kernels of a composition are one launch each; all else is as above.
TEST_F(LaunchPath, OfACompositionHasOneEventToo) {
  if (!detail::config().nccl_blocking || comm().size() == 1) GTEST_SKIP();
  warm_up(options_, DatatypeKind::int16);
  call(options_, DatatypeKind::int16);
  EXPECT_EQ(cuda("capture_of"), 1U);
  EXPECT_EQ(cuda("record"), 1U);
  EXPECT_EQ(cuda("load_kernel"), 0U);
  EXPECT_EQ(machine().nccl.last_thread(), std::this_thread::get_id());
  machine().drain();
}

TEST_F(LaunchPath, OfANonblockingCallHasTwoEvents) {
  if (!detail::config().nccl_blocking) GTEST_SKIP() << "NCCL launches in a thread of its own";
  const auto begin = [&] {
    return iallreduce(comm(), in_place, Buffer(data_.data(), count, DatatypeKind::int32), sum, options_);
  };
  for (int i = 0; i < 3; ++i) begin().wait();
  machine().runtime.clear_record();
  Request request = begin();
  EXPECT_EQ(cuda("capture_of"), 1U);
  EXPECT_EQ(cuda("record"), 2U) << "before the work and after it";
  EXPECT_EQ(cuda("wait_event"), 1U);
  request.wait();
  machine().drain();
}

/// A launch that may be stuck is made by the launch thread, and this one looks at the clock.
TEST_F(LaunchPath, WithATimeoutIsTheLaunchThreads) {
  if (!detail::config().nccl_blocking) GTEST_SKIP() << "NCCL launches in a thread of its own";
  options_.timeout = std::chrono::seconds(30);
  warm_up(options_);
  call(options_);
  const std::thread::id first = machine().nccl.last_thread();
  EXPECT_NE(first, std::this_thread::get_id());
  call(options_);
  EXPECT_EQ(machine().nccl.last_thread(), first) << "one thread, not one for each launch";
  machine().drain();
}

/// NCCL waits for the peers at a first launch: here they wait for a host operation first, which this rank must drive.
TEST_F(LaunchPath, AFirstLaunchIsTheLaunchThreads) {
  if (!detail::config().nccl_blocking) GTEST_SKIP() << "NCCL launches in a thread of its own";
  const Communicator fresh = Communicator::duplicate(MPI_COMM_WORLD);
  fresh.prepare_device();
  const DeviceMemory long_data(std::size_t{1} << 22U);
  const auto launch = [&] {
    allreduce(fresh, in_place, Buffer(long_data.data(), std::size_t{1} << 18U, DatatypeKind::int64), max, options_);
    machine().drain();
    return machine().nccl.last_thread();
  };
  EXPECT_NE(launch(), std::this_thread::get_id());
  EXPECT_EQ(launch(), std::this_thread::get_id());
}

}  // namespace
}  // namespace tutti::test
