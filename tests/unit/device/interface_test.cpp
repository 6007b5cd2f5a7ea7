// SPDX-License-Identifier: BSD-3-Clause
// The public device.hpp, on the stand-in for CUDA.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <tutti/device.hpp>
#include <tutti/error.hpp>
#include <utility>

#include "device/traffic.hpp"
#include "support/standin/runtime.hpp"

namespace tutti {
namespace {

ErrorCode code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::success;
}

class Device : public ::testing::Test {
 protected:
  Device() { runtime.install(); }
  /// Work that ends when the test says so.
  void close(const DeviceStream& stream) {
    runtime.enqueue(stream.handle(), "gate", [this] { return goes; });
  }
  standin::Runtime runtime{2};
  bool goes = false;
};

TEST_F(Device, IsThatOfTheProcess) {
  EXPECT_EQ(why_no_device(), "");
  EXPECT_EQ(device_count(), 2);
  set_current_device(1);
  EXPECT_EQ(current_device(), 1);
  EXPECT_EQ(device_name(1), runtime.device_name(1));
  EXPECT_EQ(code_of([] { set_current_device(2); }), ErrorCode::cuda);
}

TEST(NoDevice, IsToldWithItsReason) {
  if (detail::device::runtime() != nullptr) GTEST_SKIP() << "this build has CUDA";
  EXPECT_NE(why_no_device().find("TUTTI_ENABLE_CUDA"), std::string::npos);
  EXPECT_EQ(device_count(), 0);
  EXPECT_EQ(code_of([] { (void)current_device(); }), ErrorCode::not_built);
  EXPECT_EQ(code_of([] { const DeviceStream stream; }), ErrorCode::not_built);
  EXPECT_EQ(code_of([] { const DeviceMemory memory(MemoryKind::device, 0); }), ErrorCode::not_built);
}

TEST_F(Device, BytesGoInTheOrderOfTheStream) {
  const DeviceStream stream;
  const DeviceMemory there(MemoryKind::device, 8);
  char back[8] = {};
  copy_bytes(there.data(), "abcdefg", 8, stream.stream());
  copy_bytes(back, there.data(), 8, stream.stream());
  clear_bytes(there.data(), 8, stream.stream());
  copy_bytes(back, there.data(), 0, stream.stream());
  stream.wait();
  EXPECT_STREQ(back, "abcdefg");
  copy_bytes(back, there.data(), 8, stream.stream());
  stream.wait();
  EXPECT_STREQ(back, "");
}

TEST_F(Device, AStreamIsIdleWhenItsWorkIsDone) {
  const DeviceStream stream;
  EXPECT_TRUE(is_idle(stream.stream()));
  close(stream);
  EXPECT_FALSE(is_idle(stream.stream()));
  int polls = 0;
  runtime.enqueue(stream.handle(), "slow", [&] { return ++polls > 1000; });
  goes = true;
  wait_stream(stream.stream());
  EXPECT_GT(polls, 1000);
}

TEST_F(Device, MemoryIsOfItsKind) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::pinned, MemoryKind::managed}) {
    DeviceMemory memory(kind, 100);
    EXPECT_EQ(memory_kind(memory.data()), kind);
    EXPECT_EQ(memory.size(), 100U);
    std::byte* const at = memory.data();
    DeviceMemory other = std::move(memory);
    EXPECT_EQ(other.data(), at);
    EXPECT_EQ(memory.data(), nullptr);
    EXPECT_EQ(memory.size(), 0U);
    memory = std::move(other);
    EXPECT_EQ(memory.data(), at);
  }
  EXPECT_EQ(DeviceMemory(MemoryKind::device, 0).data(), nullptr);
  EXPECT_EQ(DeviceMemory().size(), 0U);
  EXPECT_EQ(code_of([] { const DeviceMemory memory(MemoryKind::host, 1); }), ErrorCode::invalid_argument);
}

TEST_F(Device, EventsOrderStreamsAndTheHost) {
  const DeviceStream first;
  const DeviceStream second;
  DeviceEvent event;
  EXPECT_TRUE(event.is_complete());
  event.wait();
  event.hold(second.stream());
  close(first);
  event.record(first.stream());
  event.hold(second.stream());
  EXPECT_FALSE(event.is_complete());
  EXPECT_FALSE(is_idle(second.stream()));
  goes = true;
  event.wait();
  second.wait();
  EXPECT_TRUE(event.is_complete());
}

/// Another device is current: CUDA refuses to record an event of one device on a stream of another.
TEST_F(Device, EventsAndGraphsAreOfTheDeviceOfTheirStream) {
  set_current_device(1);
  const DeviceStream there;
  const DeviceMemory memory(MemoryKind::device, 4);
  set_current_device(0);
  DeviceEvent event;
  for (const Stream stream : {there.stream(), Stream(StreamKind::cuda, nullptr), there.stream()}) {
    event.record(stream);
    event.wait();
    EXPECT_TRUE(event.is_complete());
  }
  const auto graph = DeviceGraph::capture(there.stream(), [&] { clear_bytes(memory.data(), 4, there.stream()); });
  close(there);
  graph.launch(there.stream());
  EXPECT_TRUE(detail::device::Traffic::of(0).is_idle());
  EXPECT_FALSE(detail::device::Traffic::of(1).is_idle());
  goes = true;
  there.wait();
  EXPECT_EQ(current_device(), 0);
}

TEST_F(Device, GraphsAreLaunchedAsNcclWork) {
  const DeviceStream stream;
  const DeviceMemory there(MemoryKind::device, 4);
  char from[4] = "abc";
  char back[4] = {};
  DeviceGraph graph;
  EXPECT_TRUE(graph.is_empty());
  EXPECT_EQ(code_of([&] { graph.launch(stream.stream()); }), ErrorCode::invalid_argument);
  graph = DeviceGraph::capture(stream.stream(), [&] { copy_bytes(there.data(), from, 4, stream.stream()); });
  EXPECT_FALSE(graph.is_empty());
  for (const char* text : {"abc", "xyz"}) {
    std::memcpy(from, text, 4);
    goes = false;
    close(stream);
    graph.launch(stream.stream());
    EXPECT_FALSE(detail::device::Traffic::of(0).is_idle());
    goes = true;
    copy_bytes(back, there.data(), 4, stream.stream());
    stream.wait();
    EXPECT_TRUE(detail::device::Traffic::of(0).is_idle());
    EXPECT_STREQ(back, text);
  }
}

TEST_F(Device, AFailureEndsTheCapture) {
  const DeviceStream stream;
  const auto fail = [] { throw std::runtime_error("in the capture"); };
  EXPECT_THROW((void)DeviceGraph::capture(stream.stream(), fail), std::runtime_error);
  EXPECT_EQ(runtime.capture_of(stream.handle()), 0U);
}

}  // namespace
}  // namespace tutti
