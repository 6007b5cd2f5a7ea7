// SPDX-License-Identifier: BSD-3-Clause
#include "device/traffic.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/standin/runtime.hpp"

namespace tutti::detail::device {
namespace {

class Traffics : public ::testing::Test {
 protected:
  Traffics() { runtime.install(); }
  /// Work on a stream that ends when the test says so.
  void launch(StreamHandle stream, const bool& goes) {
    runtime.enqueue(stream, "nccl", [&goes] { return goes; });
    Traffic::of(0).note_launch(stream);
  }
  standin::Runtime runtime{2};
  StreamHandle first = runtime.create_stream();
  StreamHandle second = runtime.create_stream();
};

TEST_F(Traffics, AreIdleBeforeAnyLaunch) {
  Traffic& traffic = Traffic::of(0);
  EXPECT_TRUE(traffic.is_idle());
  EXPECT_EQ(&Traffic::of(0), &traffic);
  EXPECT_NE(&Traffic::of(1), &traffic);
  EXPECT_NE(&Traffic::of(1).launch_mutex(), &traffic.launch_mutex());
}

TEST_F(Traffics, AreInFlightUntilEveryStreamHasPassed) {
  bool first_goes = false;
  bool second_goes = false;
  launch(first, first_goes);
  launch(second, second_goes);
  EXPECT_FALSE(Traffic::of(0).is_idle());
  EXPECT_TRUE(Traffic::of(1).is_idle());
  first_goes = true;
  EXPECT_FALSE(Traffic::of(0).is_idle());
  second_goes = true;
  EXPECT_TRUE(Traffic::of(0).is_idle());
  EXPECT_TRUE(Traffic::of(0).is_idle());
}

TEST_F(Traffics, AStreamThatFollowsRunsAfterTheLastLaunch) {
  bool goes = false;
  bool has_followed = false;
  launch(first, goes);
  Traffic::of(0).follow(second);
  runtime.enqueue(second, "nccl", [&] { return has_followed = true; });
  Traffic::of(0).note_launch(second);
  (void)runtime.run_some();
  EXPECT_FALSE(Traffic::of(0).is_idle());
  EXPECT_FALSE(has_followed);
  goes = true;
  EXPECT_TRUE(Traffic::of(0).is_idle());
  EXPECT_TRUE(has_followed);
}

TEST_F(Traffics, AStreamDoesNotFollowItself) {
  bool goes = true;
  launch(first, goes);
  runtime.clear_record();
  Traffic::of(0).follow(first);
  EXPECT_EQ(std::ranges::count(runtime.record(), "wait_event"), 0);
}

TEST_F(Traffics, WhatFollowsTheLaunchDoesNotCount) {
  bool goes = true;
  launch(first, goes);
  runtime.enqueue(first, "of the user", [] { return false; });
  EXPECT_TRUE(Traffic::of(0).is_idle());
  runtime.drop_all();
}

TEST_F(Traffics, KeepOneEventAStream) {
  bool goes = false;
  for (int i = 0; i < 100; ++i) launch(first, goes);
  EXPECT_EQ(std::ranges::count(runtime.record(), "create_event"), 1);
  EXPECT_FALSE(Traffic::of(0).is_idle());
  goes = true;
  EXPECT_TRUE(Traffic::of(0).is_idle());
}

TEST_F(Traffics, CountFailuresOfTheDeviceAsIdle) {
  bool goes = false;
  launch(first, goes);
  runtime.fail_next("is_complete");
  EXPECT_TRUE(Traffic::of(0).is_idle());
  runtime.drop_all();
}

}  // namespace
}  // namespace tutti::detail::device
