// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <tutti/detail/launch/kernel.hpp>
#include <tutti/error.hpp>

#include "device/traffic.hpp"
#include "kernels/device/combine.hpp"
#include "support/standin/runtime.hpp"

namespace tutti::kernels::device {
namespace {

namespace lower = tutti::detail::device;

class Kernels : public ::testing::Test {
 protected:
  Kernels() { runtime.install(); }
  [[nodiscard]] auto loads() const { return std::ranges::count(runtime.record(), "load_kernel"); }
  /// NCCL work that goes on for some steps.
  void launch_nccl() {
    runtime.enqueue(stream, "nccl", [this] { return ++steps > 3; });
    lower::Traffic::of(0).note_launch(stream);
  }
  void add(DatatypeKind type) {
    const std::array<const void*, 2> inputs{data, data + 64};
    combine(type, sum, inputs, data, 4, other);
  }

  standin::Runtime runtime{2};
  StreamHandle stream = runtime.create_stream();
  StreamHandle other = runtime.create_stream();
  std::byte* data = static_cast<std::byte*>(runtime.allocate(MemoryKind::device, 256));
  int steps = 0;
};

TEST_F(Kernels, AreLoadedOnceOnEachDevice) {
  Kernel kernel;
  run_on_host(stream, kernel, {});
  run_on_host(other, kernel, {});
  EXPECT_EQ(loads(), 1);
  const lower::Guard guard(1);
  run_on_host(nullptr, kernel, {});
  run_on_host(nullptr, kernel, {});
  EXPECT_EQ(loads(), 2);
}

TEST_F(Kernels, AreLoadedAgainOnAnotherRuntime) {
  Kernel kernel;
  run_on_host(stream, kernel, {});
  standin::Runtime second;
  second.install();
  run_on_host(nullptr, kernel, {});
  EXPECT_EQ(std::ranges::count(second.record(), "load_kernel"), 1);
}

/// CUDA may wait for the device when it loads code, and NCCL's work may wait for what this rank does next.
TEST_F(Kernels, AreLoadedWhileNoNcclWorkIsInFlight) {
  launch_nccl();
  add(DatatypeKind::float32);
  EXPECT_EQ(loads(), 1);
  EXPECT_GT(steps, 3) << "loaded beside NCCL work";
  EXPECT_EQ(runtime.forbidden_allocations(), 0U);
}

TEST_F(Kernels, ThatAreLoadedDoNotWait) {
  add(DatatypeKind::float64);
  runtime.run_all();
  launch_nccl();
  add(DatatypeKind::float64);
  EXPECT_EQ(steps, 0);
  EXPECT_EQ(loads(), 1);
  runtime.run_all();
}

TEST_F(Kernels, OfACallWithoutElementsAreLoadedAndNotLaunched) {
  const void* const nothing = nullptr;
  combine(DatatypeKind::int16, sum, {&nothing, 1}, nullptr, 0, stream);
  EXPECT_EQ(loads(), 1);
  EXPECT_TRUE(runtime.is_idle(stream));
}

TEST_F(Kernels, AreLoadedByIdleLaunches) {
  Kernel kernel;
  launch_nccl();
  int launches = 0;
  kernel.load(other, [&] { ++launches; });
  EXPECT_GT(steps, 3) << "launched beside NCCL work";
  kernel.load(other, [&] { ++launches; });
  EXPECT_EQ(launches, 1);
}

TEST_F(Kernels, AreNotLoadedUnderCapture) {
  runtime.begin_capture(other);
  EXPECT_THROW(add(DatatypeKind::uint8), Error);
  runtime.destroy_graph(runtime.end_capture(other));
  add(DatatypeKind::uint8);
  runtime.run_all();
  runtime.begin_capture(other);
  EXPECT_NO_THROW(add(DatatypeKind::uint8));
  runtime.destroy_graph(runtime.end_capture(other));
}

TEST_F(Kernels, CannotBeLoadedByALaunchBesideNcclWork) {
  launch_nccl();
  {
    const std::lock_guard launching(lower::Traffic::of(0).launch_mutex());
    EXPECT_THROW(add(DatatypeKind::int8), Error);
  }
  runtime.run_all();
  const std::lock_guard launching(lower::Traffic::of(0).launch_mutex());
  EXPECT_NO_THROW(add(DatatypeKind::int8));
  runtime.run_all();
}

TEST_F(Kernels, TheStandInLoadsWhatWasNotLoaded) {
  launch_nccl();
  runtime.run_host(
      other, [] {}, &steps);
  EXPECT_EQ(runtime.forbidden_allocations(), 1U);
  runtime.run_all();
}

}  // namespace
}  // namespace tutti::kernels::device
