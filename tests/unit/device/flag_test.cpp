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
  flag.close(0, stream);
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
    flag.close(0, stream);
  }
  // The stream has not looked at the word: it must not be another's.
  Flag next;
  next.close(0, runtime.create_stream());
  EXPECT_EQ(Pool::of(MemoryKind::pinned, 0).held_bytes(), 512U);
  goes = true;
  while (!runtime.is_idle(stream)) {
  }
  next.open();
}

TEST_F(Flags, UseTheirWordsAgain) {
  for (int i = 0; i < 10; ++i) {
    Flag flag;
    flag.close(0, stream);
    flag.open();
    EXPECT_TRUE(runtime.is_idle(stream));
  }
  EXPECT_LE(Pool::of(MemoryKind::pinned, 0).held_bytes(), 512U);
}

TEST_F(Flags, CloseAgainOnAnotherWord) {
  Flag flag;
  flag.close(0, stream);
  StreamHandle other = runtime.create_stream();
  flag.close(0, other);
  EXPECT_EQ(Flag::closed_count(), 1U);
  EXPECT_TRUE(runtime.is_idle(stream)) << "what was closed before is open";
  EXPECT_FALSE(runtime.is_idle(other));
  flag.open();
}

TEST_F(Flags, Move) {
  Flag flag;
  flag.close(0, stream);
  Flag other(std::move(flag));
  EXPECT_FALSE(flag.is_closed());  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(other.is_closed());
  flag = std::move(other);
  EXPECT_FALSE(runtime.is_idle(stream));
  flag = Flag();
  EXPECT_TRUE(runtime.is_idle(stream));
}

TEST_F(Flags, ThatCannotBeClosedAreOpen) {
  Flag flag;
  runtime.fail_next("wait_flag");
  EXPECT_THROW(flag.close(0, stream), Error);
  EXPECT_FALSE(flag.is_closed());
  EXPECT_TRUE(runtime.is_idle(stream));
}

}  // namespace
}  // namespace tutti::detail::device
