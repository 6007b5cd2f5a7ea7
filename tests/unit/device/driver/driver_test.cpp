// SPDX-License-Identifier: BSD-3-Clause
// What the library asks of the CUDA driver, in the order in which a process comes to use a device. The driver here is a
// library of the test.
#include "device/driver.hpp"

#include <gtest/gtest.h>

#include "unit/device/driver/fake_driver.hpp"

namespace tutti::detail::device {
namespace {

const int address = 0;

class Drivers : public ::testing::Test {
 protected:
  Drivers() { fake_driver = {}; }
  Driver& driver = Driver::instance();

  [[nodiscard]] Runtime::Pointer inspect() const {
    Runtime::Pointer pointer{MemoryKind::device, 7};
    EXPECT_TRUE(driver.inspect(&address, pointer));
    return pointer;
  }
};

TEST_F(Drivers, AProcessThatLeavesTheDevicesAloneCostsOneQuestion) {
  EXPECT_FALSE(driver.has_context());
  EXPECT_EQ(fake_driver.calls, 1);
  fake_driver.memory_type = 2;
  EXPECT_EQ(inspect().kind, MemoryKind::host);
  EXPECT_EQ(fake_driver.calls, 2);
}

TEST_F(Drivers, AnInitializedDriverIsNoContext) {
  fake_driver.is_initialized = true;
  EXPECT_FALSE(driver.has_context());
  fake_driver.memory_type = 2;
  EXPECT_EQ(inspect().kind, MemoryKind::host);
}

TEST_F(Drivers, AContextOfTheProgramsOwnCountsWhileItIsCurrent) {
  fake_driver.is_initialized = true;
  fake_driver.has_current = true;
  EXPECT_TRUE(driver.has_context());
  fake_driver.has_current = false;
  EXPECT_FALSE(driver.has_context());
}

TEST_F(Drivers, KnowsFeaturesAndUuids) {
  fake_driver.is_initialized = true;
  EXPECT_TRUE(driver.has_stream_memory_operations(0));
  EXPECT_FALSE(driver.has_stream_memory_operations(1));
  Uuid uuid{};
  EXPECT_TRUE(driver.uuid(3, uuid));
  EXPECT_EQ(uuid[0], 3);
  EXPECT_EQ(uuid[15], 18);
  fake_driver.is_initialized = false;
  EXPECT_FALSE(driver.uuid(3, uuid));
}

TEST_F(Drivers, PushesAndPopsTheContextOfADevice) {
  fake_driver.is_initialized = true;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(driver.push(1));
    EXPECT_EQ(fake_driver.pushed, 1);
    driver.pop();
    EXPECT_EQ(fake_driver.pushed, -1);
  }
  EXPECT_EQ(fake_driver.retained, 1) << "once a device, to the end of the process";
  EXPECT_FALSE(driver.push(2));
  EXPECT_EQ(fake_driver.pushed, -1);
}

TEST_F(Drivers, KnowsTheDeviceOfAStream) {
  int stream = 0;
  int device = -1;
  EXPECT_FALSE(driver.device_of(&stream, device)) << "the driver does not answer yet";
  fake_driver.is_initialized = true;
  fake_driver.stream_device = 1;
  EXPECT_TRUE(driver.device_of(&stream, device));
  EXPECT_EQ(device, 1);
  EXPECT_EQ(fake_driver.pushed, -1) << "the thread has its former context again";
}

/// From here on the process uses a device: that is remembered, so this comes last.
TEST_F(Drivers, UsedDevicesKnowKinds) {
  fake_driver.is_initialized = true;
  fake_driver.active_device = 1;
  EXPECT_TRUE(driver.has_context());
  const int calls = fake_driver.calls;
  EXPECT_TRUE(driver.has_context());
  EXPECT_EQ(fake_driver.calls, calls) << "a device that is used is not asked for again";

  EXPECT_EQ(inspect().kind, MemoryKind::host);
  EXPECT_EQ(inspect().device, -1);
  fake_driver.device = 1;
  fake_driver.memory_type = 1;
  EXPECT_EQ(inspect().kind, MemoryKind::pinned);
  EXPECT_EQ(inspect().device, -1);
  fake_driver.memory_type = 2;
  EXPECT_EQ(inspect().kind, MemoryKind::device);
  EXPECT_EQ(inspect().device, 1);
  fake_driver.is_managed = 1;
  EXPECT_EQ(inspect().kind, MemoryKind::managed);
  fake_driver.is_answering = false;
  Runtime::Pointer pointer;
  EXPECT_FALSE(driver.inspect(&address, pointer)) << "CUDA's runtime is asked then";
}

}  // namespace
}  // namespace tutti::detail::device
