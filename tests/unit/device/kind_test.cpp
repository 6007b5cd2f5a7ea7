// SPDX-License-Identifier: BSD-3-Clause
// tutti::memory_kind: by the runtime, and host wherever there is none or this process uses no device.
#include <gtest/gtest.h>

#include <tutti/buffer.hpp>

#include "device/runtime.hpp"
#include "support/standin/runtime.hpp"

namespace tutti {
namespace {

TEST(Kind, IsWhatTheRuntimeSays) {
  standin::Runtime runtime(2);
  runtime.install();
  runtime.set_current_device(1);
  for (const MemoryKind kind : {MemoryKind::pinned, MemoryKind::device, MemoryKind::managed}) {
    auto* data = static_cast<char*>(runtime.allocate(kind, 100));
    EXPECT_EQ(memory_kind(data), kind);
    EXPECT_EQ(memory_kind(data + 99), kind);
    EXPECT_EQ(runtime.inspect(data).device, kind == MemoryKind::pinned ? -1 : 1);
    runtime.release(kind, data);
    EXPECT_EQ(memory_kind(data), MemoryKind::host) << "freed addresses return with another kind";
  }
  int x = 0;
  EXPECT_EQ(memory_kind(&x), MemoryKind::host);
  EXPECT_EQ(memory_kind(nullptr), MemoryKind::host);
}

TEST(Kind, IsHostWithoutAContext) {
  standin::Runtime runtime;
  runtime.install();
  const void* data = runtime.allocate(MemoryKind::device, 100);
  runtime.set_context(false);
  EXPECT_EQ(memory_kind(data), MemoryKind::host);
  EXPECT_FALSE(runtime.has_context()) << "asking never begins to use a device";
}

TEST(Kind, IsHostOnAMachineWithoutADevice) {
  detail::device::Runtime* built = detail::device::built_runtime();
  if (built != nullptr && built->device_count() > 0) GTEST_SKIP() << "this machine has a device";
  int x = 0;
  EXPECT_EQ(memory_kind(&x), MemoryKind::host);
  if (built != nullptr) {
    EXPECT_FALSE(built->has_context());
  }
}

}  // namespace
}  // namespace tutti
