// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <tutti/error.hpp>
#include <utility>

#include "device/pool.hpp"
#include "support/standin/runtime.hpp"

namespace tutti::detail::device {
namespace {

class Events : public ::testing::Test {
 protected:
  Events() { runtime.install(); }
  [[nodiscard]] auto made() const { return std::ranges::count(runtime.record(), "create_event"); }
  standin::Runtime runtime{2};
  StreamHandle stream = runtime.create_stream();
};

TEST_F(Events, AreCompleteWhenWhatPrecedesIs) {
  Event event;
  EXPECT_TRUE(event.is_complete());
  EXPECT_FALSE(event.is_recorded());
  bool goes = false;
  runtime.enqueue(stream, "gate", [&] { return goes; });
  event.record(0, stream);
  EXPECT_TRUE(event.is_recorded());
  EXPECT_FALSE(event.is_complete());
  goes = true;
  EXPECT_TRUE(event.is_complete());
}

TEST_F(Events, ComeFromAPool) {
  EventHandle first = nullptr;
  {
    Event event;
    event.record(0, stream);
    event.record(0, stream);
    first = event.handle();
  }
  Event again;
  again.record(0, stream);
  EXPECT_EQ(again.handle(), first);
  EXPECT_EQ(made(), 1);
  Event other;
  other.record(1, nullptr);
  EXPECT_EQ(made(), 2) << "an event is of one device";
  EXPECT_EQ(runtime.current_device(), 0);
}

TEST_F(Events, MoveTheirRecord) {
  Event event;
  event.record(0, stream);
  EventHandle handle = event.handle();
  Event other(std::move(event));
  EXPECT_FALSE(event.is_recorded());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(other.handle(), handle);
  event = std::move(other);
  EXPECT_EQ(event.handle(), handle);
  EXPECT_EQ(made(), 1);
}

TEST_F(Events, ChangeTheirDevice) {
  Event event;
  event.record(0, stream);
  event.record(1, nullptr);
  EXPECT_EQ(made(), 2);
  EXPECT_TRUE(event.is_complete());
}

TEST_F(Events, GiveOnWhatTheDeviceReports) {
  Event event;
  event.record(0, stream);
  runtime.fail_next("is_complete");
  EXPECT_THROW((void)event.is_complete(), Error);
  EXPECT_TRUE(event.is_complete());
}

}  // namespace
}  // namespace tutti::detail::device
