// SPDX-License-Identifier: BSD-3-Clause
// Captures of the stand-in: work is not done but kept, can be launched often, and what a graph retains ends with it.
#include <gtest/gtest.h>

#include <tutti/error.hpp>

#include "support/standin/runtime.hpp"

namespace tutti::standin {
namespace {

class StandInCapture : public ::testing::Test {
 protected:
  StandInCapture() { runtime.install(); }
  void add(StreamHandle on, int digit) {
    runtime.run_host(on, [this, digit] { number = number * 10 + digit; });
  }

  Runtime runtime;
  StreamHandle stream = runtime.create_stream();
  StreamHandle side = runtime.create_stream();
  EventHandle event = runtime.create_event();
  int number = 0;
};

TEST_F(StandInCapture, WorkIsKeptAndDoneAtEachLaunch) {
  EXPECT_EQ(runtime.capture_of(stream), 0U);
  runtime.begin_capture(stream);
  EXPECT_NE(runtime.capture_of(stream), 0U);
  EXPECT_EQ(runtime.capture_of(side), 0U);
  add(stream, 7);
  const int graph = runtime.end_capture(stream);
  EXPECT_EQ(runtime.capture_of(stream), 0U);
  runtime.run_all();
  EXPECT_EQ(number, 0);
  runtime.launch(graph, stream);
  runtime.launch(graph, side);
  runtime.run_all();
  EXPECT_EQ(number, 77);
  runtime.destroy_graph(graph);
}

TEST_F(StandInCapture, AStreamThatWaitsForAnEventTakesPart) {
  runtime.begin_capture(stream);
  add(stream, 1);
  runtime.record(event, stream);
  runtime.wait_event(side, event);
  EXPECT_EQ(runtime.capture_of(side), runtime.capture_of(stream));
  add(side, 2);
  EventHandle back = runtime.create_event();
  runtime.record(back, side);
  runtime.wait_event(stream, back);
  add(stream, 3);
  const int graph = runtime.end_capture(stream);
  EXPECT_EQ(runtime.capture_of(side), 0U);
  runtime.launch(graph, stream);
  runtime.run_all();
  EXPECT_EQ(number, 123);
  runtime.destroy_graph(graph);
}

TEST_F(StandInCapture, AnOrderThatIsMissingInTheGraphIsShown) {
  runtime.begin_capture(stream);
  runtime.record(event, stream);
  runtime.wait_event(side, event);
  add(stream, 1);
  add(side, 2);
  runtime.record(event, side);
  runtime.wait_event(stream, event);
  const int graph = runtime.end_capture(stream);
  runtime.launch(graph, stream);
  runtime.run_all();
  EXPECT_EQ(number, 21) << "nobody ordered the side stream after the first digit";
  runtime.destroy_graph(graph);
}

TEST_F(StandInCapture, RefusesWhatCudaRefuses) {
  EventHandle outside = runtime.create_event();
  add(side, 1);
  runtime.record(outside, side);
  runtime.begin_capture(stream);
  EXPECT_THROW(runtime.wait_event(stream, outside), Error);
  EXPECT_THROW((void)runtime.is_idle(stream), Error);
  EXPECT_THROW(runtime.begin_capture(stream), Error);
  runtime.record(event, stream);
  EXPECT_THROW((void)runtime.is_complete(event), Error);
  runtime.wait_event(side, event);
  add(side, 2);
  EXPECT_THROW((void)runtime.end_capture(stream), Error) << "the side stream has not joined";
  EXPECT_THROW(runtime.wait_event(stream, event), Error) << "its capture has ended";
  EXPECT_THROW(runtime.retain_by_graph(
                   stream, [](void*) {}, nullptr),
               Error);
}

TEST_F(StandInCapture, WhatIsRetainedEndsWithTheGraphAndItsLaunches) {
  bool is_released = false;
  bool goes = false;
  runtime.begin_capture(stream);
  runtime.enqueue(stream, "gate", [&] { return goes; });
  runtime.retain_by_graph(
      stream, [](void* data) { *static_cast<bool*>(data) = true; }, &is_released);
  const int graph = runtime.end_capture(stream);
  runtime.launch(graph, stream);
  EXPECT_FALSE(runtime.is_idle(stream));
  runtime.destroy_graph(graph);
  EXPECT_FALSE(is_released) << "a launch is under way";
  goes = true;
  runtime.run_all();
  EXPECT_TRUE(is_released);
}

}  // namespace
}  // namespace tutti::standin
