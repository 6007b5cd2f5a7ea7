// SPDX-License-Identifier: BSD-3-Clause
// The stand-in's own rules: what is not ordered comes out wrong, and what is ordered comes out right.
#include "support/standin/device_arena.hpp"
#include "support/standin/runtime.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>
#include <tutti/error.hpp>

namespace tutti::standin {
namespace {

class StandIn : public ::testing::Test {
 protected:
  StandIn() { runtime.install(); }

  int* ints(int first) {
    auto* data = static_cast<int*>(runtime.allocate(MemoryKind::device, sizeof(int)));
    *data = first;
    return data;
  }
  void set(StreamHandle stream, int* to, int value) {
    runtime.run_host(stream, [=] { *to = value; });
  }

  Runtime runtime{2};
  const HostAccess access{};
};

TEST_F(StandIn, DoesNothingBeforeItIsAsked) {
  int* x = ints(1);
  StreamHandle stream = runtime.create_stream();
  set(stream, x, 2);
  EXPECT_EQ(*x, 1);
  EXPECT_TRUE(runtime.is_idle(stream));
  EXPECT_EQ(*x, 2);
}

TEST_F(StandIn, ShowsAMissingOrderBetweenStreams) {
  int* x = ints(1);
  int* y = ints(0);
  StreamHandle writer = runtime.create_stream();
  StreamHandle reader = runtime.create_stream();
  set(writer, x, 2);
  runtime.copy(y, x, sizeof(int), reader);
  EXPECT_TRUE(runtime.is_idle(reader));
  EXPECT_EQ(*y, 1) << "nobody ordered the reader after the writer";
}

TEST_F(StandIn, KeepsTheOrderThatAnEventMakes) {
  int* x = ints(1);
  int* y = ints(0);
  StreamHandle writer = runtime.create_stream();
  StreamHandle reader = runtime.create_stream();
  EventHandle written = runtime.create_event();
  set(writer, x, 2);
  runtime.record(written, writer);
  set(writer, x, 3);
  runtime.wait_event(reader, written);
  runtime.copy(y, x, sizeof(int), reader);
  EXPECT_EQ(*y, 0);
  while (!runtime.is_idle(reader)) {
  }
  EXPECT_GE(*y, 2);
  runtime.run_all();
  EXPECT_EQ(*x, 3);
}

TEST_F(StandIn, DrivesStreamsThatWaitForEachOther) {
  int* x = ints(0);
  StreamHandle a = runtime.create_stream();
  StreamHandle b = runtime.create_stream();
  EventHandle of_a = runtime.create_event();
  EventHandle of_b = runtime.create_event();
  set(a, x, 1);
  runtime.record(of_a, a);
  runtime.wait_event(b, of_a);
  runtime.run_host(b, [=] { *x = *x * 10 + 2; });
  runtime.record(of_b, b);
  runtime.wait_event(a, of_b);
  runtime.run_host(a, [=] { *x = *x * 10 + 3; });
  while (!runtime.is_idle(a)) {
  }
  EXPECT_EQ(*x, 123);
}

TEST_F(StandIn, LetsOtherStreamsGoOnWhereTheAskedOneWaits) {
  int* x = ints(0);
  StreamHandle waiting = runtime.create_stream();
  StreamHandle other = runtime.create_stream();
  runtime.enqueue(waiting, "message", [=] { return *x == 1; });
  set(other, x, 1);
  int looks = 0;
  while (!runtime.is_idle(waiting)) ASSERT_LT(++looks, 10);
}

/// A device with fewer hardware queues than streams.
class OneQueue : public StandIn {
 protected:
  OneQueue() { narrow.install(); }
  Runtime narrow{1, 1};
  StreamHandle first = narrow.create_stream();
  StreamHandle other = narrow.create_stream();
  int number = 1;
  bool goes = false;
  void set_number(StreamHandle stream, int value) {
    narrow.run_host(stream, [this, value] { number = value; });
  }
};

TEST_F(OneQueue, AWaitHoldsUpLaterWorkOfOthers) {
  set_number(other, 2);
  narrow.enqueue_wait(first, "wait", [&] { return goes; });
  EXPECT_TRUE(narrow.is_idle(other)) << "came before the wait";
  set_number(other, 3);
  EXPECT_FALSE(narrow.is_idle(other));
  EXPECT_EQ(number, 2);
  goes = true;
  EXPECT_TRUE(narrow.is_idle(other));
  EXPECT_EQ(number, 3);
}

TEST_F(OneQueue, WorkThatHasBegunHoldsUpOnlyWhatFollowsInItsStream) {
  narrow.enqueue(first, "kernel", [&] { return goes; });
  set_number(other, 2);
  EXPECT_TRUE(narrow.is_idle(other));
  EXPECT_EQ(number, 2);
  set_number(first, 4);  // begins after the kernel
  set_number(other, 3);
  EXPECT_FALSE(narrow.is_idle(other));
  goes = true;
  narrow.run_all();
}

TEST_F(OneQueue, WhatHasBegunIsNotDone) {
  set_number(first, 2);
  int seen = 0;
  narrow.run_host(other, [&] { seen = number; });
  EXPECT_TRUE(narrow.is_idle(other));
  EXPECT_EQ(seen, 1) << "nobody ordered the streams";
}

TEST_F(StandIn, MemoryThatIsFreeIsSpoilt) {
  int* x = ints(1);
  auto* pinned = static_cast<int*>(runtime.allocate(MemoryKind::pinned, sizeof(int)));
  StreamHandle stream = runtime.create_stream();
  int read = 0;
  runtime.run_host(stream, [x, &read] { read = *x; });
  runtime.release(MemoryKind::device, x);
  runtime.run_all();
  EXPECT_EQ(read, 1) << "cudaFree waits for the device";
  runtime.note_unused(pinned, sizeof(int));
  EXPECT_EQ(*pinned, static_cast<int>(0xdddddddd));
  (void)runtime.allocate(MemoryKind::pinned, 1);  // what is released goes now
#if !defined(__SANITIZE_ADDRESS__)                // which refuses the look
  EXPECT_EQ(*x, static_cast<int>(0xdddddddd));
#endif
}

TEST(StandInMemory, OfADeviceIsNotTheHosts) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  Runtime runtime;
  auto* x = static_cast<int*>(runtime.allocate(MemoryKind::device, sizeof(int)));
  EXPECT_DEATH(*x = 1, "the host touched device memory");
  auto* managed = static_cast<int*>(runtime.allocate(MemoryKind::managed, sizeof(int)));
  *managed = 1;
  runtime.run_host(nullptr, [x] { *x = 2; });
  runtime.run_all();
  EXPECT_DEATH(*x = 1, "the host touched device memory") << "work of a stream leaves it open";
  runtime.run_host(nullptr, [x] { *x = 2; });
  EXPECT_TRUE(runtime.is_idle(nullptr));
  EXPECT_DEATH(*x = 1, "the host touched device memory") << "a stream that was asked leaves it open";
}

TEST_F(StandIn, AnEventIsWhatWasRecordedLast) {
  StreamHandle stream = runtime.create_stream();
  EventHandle event = runtime.create_event();
  EXPECT_TRUE(runtime.is_complete(event)) << "nothing was recorded";
  bool goes = false;
  runtime.record(event, stream);
  runtime.enqueue(stream, "gate", [&] { return goes; });
  EXPECT_TRUE(runtime.is_complete(event));
  runtime.record(event, stream);
  EXPECT_FALSE(runtime.is_complete(event));
  goes = true;
  EXPECT_TRUE(runtime.is_complete(event));
}

TEST_F(StandIn, MemoryIsNotANumberAtFirstAndKnownUntilReleased) {
  auto* data = static_cast<float*>(runtime.allocate(MemoryKind::managed, 64));
  EXPECT_TRUE(std::isnan(data[0]));
  EXPECT_EQ(runtime.inspect(data + 15).kind, MemoryKind::managed);
  EXPECT_EQ(runtime.inspect(data + 16).kind, MemoryKind::host);
  EXPECT_EQ(runtime.live_allocations(), 1U);
  runtime.release(MemoryKind::managed, data);
  EXPECT_EQ(runtime.inspect(data).kind, MemoryKind::host);
  EXPECT_EQ(runtime.live_allocations(), 0U);
}

TEST_F(StandIn, CopiesRows) {
  std::vector<char> from = {'a', 'b', '-', 'c', 'd', '-', 'e', 'f'};
  std::vector<char> to(6, '.');
  runtime.copy_rows(to.data(), 2, from.data(), 3, 2, 3, nullptr);
  runtime.fill_zero(from.data(), 1, nullptr);
  EXPECT_EQ(to[0], '.');
  EXPECT_TRUE(runtime.is_idle(nullptr));
  EXPECT_EQ(std::string(to.begin(), to.end()), "abcdef");
  EXPECT_EQ(from[0], 0);
}

TEST_F(StandIn, CountsAllocationsWhileNcclWorks) {
  StreamHandle stream = runtime.create_stream();
  bool goes = false;
  runtime.enqueue(stream, "nccl group", [&] { return goes; });
  void* data = runtime.allocate(MemoryKind::device, 8);
  EXPECT_EQ(runtime.forbidden_allocations(), 1U);
  goes = true;
  runtime.run_all();
  runtime.release(MemoryKind::device, data);
  EXPECT_EQ(runtime.forbidden_allocations(), 1U);
}

TEST_F(StandIn, FailsWhereItIsToldTo) {
  runtime.fail_next("copy");
  char c = 0;
  EXPECT_THROW(runtime.copy(&c, &c, 1, nullptr), Error);
  EXPECT_NO_THROW(runtime.copy(&c, &c, 1, nullptr));
  runtime.set_memory(100);
  try {
    (void)runtime.allocate(MemoryKind::device, 101);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::out_of_memory);
  }
  EXPECT_THROW(runtime.set_current_device(2), Error);
}

TEST_F(StandIn, TheCurrentDeviceIsTheThreads) {
  runtime.set_current_device(1);
  std::thread([&] { EXPECT_EQ(runtime.current_device(), 0); }).join();
  EXPECT_EQ(runtime.current_device(), 1);
}

TEST_F(StandIn, DroppedWorkIsNotDoneAndItsEventsAreComplete) {
  int* x = ints(1);
  StreamHandle stream = runtime.create_stream();
  EventHandle event = runtime.create_event();
  runtime.enqueue(stream, "forever", [] { return false; });
  set(stream, x, 2);
  runtime.record(event, stream);
  EXPECT_FALSE(runtime.is_complete(event));
  runtime.drop_all();
  EXPECT_TRUE(runtime.is_complete(event));
  EXPECT_EQ(*x, 1);
}

}  // namespace
}  // namespace tutti::standin
