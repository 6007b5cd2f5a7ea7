// SPDX-License-Identifier: BSD-3-Clause
#include "device/flag.hpp"

#include <gtest/gtest.h>

#include <tutti/error.hpp>
#include <utility>

#include "support/standin/runtime.hpp"

namespace tutti::detail::device {
namespace {

class Flags : public ::testing::Test {
 protected:
  Flags() { runtime.install(); }
  void TearDown() override {
    runtime.run_all();
    EXPECT_EQ(Flag::closed_count(), 0U);
  }
  standin::Runtime runtime{2};
  StreamHandle stream = runtime.create_stream();
};

TEST_F(Flags, HoldAStreamUntilTheHostOpensThem) {
  int number = 0;
  runtime.run_host(stream, [&] { number = 1; });
  Flag flag;
  EXPECT_FALSE(flag.is_closed());
  flag.close(0);
  flag.hold(stream, 1);
  EXPECT_TRUE(flag.is_closed());
  EXPECT_EQ(Flag::closed_count(), 1U);
  runtime.run_host(stream, [&] { number = 2; });
  EXPECT_FALSE(runtime.is_idle(stream));
  EXPECT_EQ(number, 1);
  flag.open();
  EXPECT_FALSE(flag.is_closed());
  EXPECT_EQ(number, 1) << "the stream goes on by itself, not in open()";
  EXPECT_TRUE(runtime.is_idle(stream));
  EXPECT_EQ(number, 2);
}

TEST_F(Flags, OpenAtTheirEndAndKeepTheWordUntilTheStreamHasPassed) {
  StreamHandle before = runtime.create_stream();
  bool goes = false;
  runtime.enqueue(before, "gate", [&] { return goes; });
  EventHandle event = runtime.create_event();
  runtime.record(event, before);
  runtime.wait_event(stream, event);
  {
    Flag flag;
    flag.close(0);
    flag.hold(stream, 1);
  }
  // The stream has not looked at the word: it must not be another's.
  Flag next;
  next.close(0);
  next.hold(runtime.create_stream(), 1);
  EXPECT_EQ(Pool::of(MemoryKind::pinned, 0).held_bytes(), 512U);
  goes = true;
  while (!runtime.is_idle(stream)) {
  }
  next.open();
}

TEST_F(Flags, AreOpenedStepByStepForSeveralStreams) {
  StreamHandle other = runtime.create_stream();
  int number = 0;
  int of_other = 0;
  Flag flag;
  flag.close(0);
  flag.hold(stream, 1);
  runtime.run_host(stream, [&] { number = 1; });
  flag.hold(stream, 2);
  runtime.run_host(stream, [&] { number = 2; });
  flag.hold(other, 2);
  runtime.run_host(other, [&] { of_other = 1; });
  EXPECT_FALSE(runtime.is_idle(stream));
  EXPECT_EQ(number, 0);
  flag.raise(1);
  EXPECT_TRUE(flag.is_closed());
  EXPECT_FALSE(runtime.is_idle(stream));
  EXPECT_EQ(number, 1);
  EXPECT_FALSE(runtime.is_idle(other));
  flag.open();
  EXPECT_TRUE(runtime.is_idle(stream) && runtime.is_idle(other));
  EXPECT_EQ(number, 2);
  EXPECT_EQ(of_other, 1);
}

TEST_F(Flags, UseTheirWordsAgain) {
  for (int i = 0; i < 10; ++i) {
    Flag flag;
    flag.close(0);
    flag.hold(stream, 1);
    flag.open();
    EXPECT_TRUE(runtime.is_idle(stream));
  }
  EXPECT_LE(Pool::of(MemoryKind::pinned, 0).held_bytes(), 512U);
}

TEST_F(Flags, CloseAgainOnAnotherWord) {
  Flag flag;
  flag.close(0);
  flag.hold(stream, 1);
  StreamHandle other = runtime.create_stream();
  flag.close(0);
  flag.hold(other, 1);
  EXPECT_EQ(Flag::closed_count(), 1U);
  EXPECT_TRUE(runtime.is_idle(stream)) << "what was closed before is open";
  EXPECT_FALSE(runtime.is_idle(other));
  flag.open();
}

TEST_F(Flags, Move) {
  Flag flag;
  flag.close(0);
  flag.hold(stream, 1);
  Flag other(std::move(flag));
  EXPECT_FALSE(flag.is_closed());  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(other.is_closed());
  flag = std::move(other);
  EXPECT_FALSE(runtime.is_idle(stream));
  flag = Flag();
  EXPECT_TRUE(runtime.is_idle(stream));
}

TEST_F(Flags, DoNotHoldAStreamThatCannotWait) {
  Flag flag;
  runtime.fail_next("wait_flag");
  flag.close(0);
  EXPECT_THROW(flag.hold(stream, 1), Error);
  EXPECT_TRUE(runtime.is_idle(stream));
}

}  // namespace
}  // namespace tutti::detail::device
