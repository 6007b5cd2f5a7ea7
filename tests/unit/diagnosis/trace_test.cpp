// SPDX-License-Identifier: BSD-3-Clause
// Parts with known events: their clocks, who waited for whom, and the file that is written of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "diagnosis/trace/events.hpp"
#include "diagnosis/trace/merge.hpp"
#include "diagnosis/trace/world.hpp"

namespace tutti::detail::trace {
namespace {

using flight::Form;
using flight::State;

constexpr std::uint64_t mark = 77;

/// A rank of a communicator of so many.
Part rank_of(int rank, int size) {
  Part part;
  part.header.world_rank = rank + 10;
  part.header.ended = 1;
  part.header.machine = 1;
  part.host = "node1";
  part.communicators[0] = {mark, rank, size, "first"};
  part.texts[1] = "shm:slots";
  return part;
}

TracedCall collective(flight::Call call, std::uint32_t sequence, std::int64_t begin, std::int64_t end) {
  return {.facts = {.bytes = 8, .sequence = sequence, .way = 1, .call = call},
          .state = State::done,
          .begin = begin,
          .end = end};
}

TracedCall message(flight::Call call, int peer, std::int64_t begin, std::int64_t end) {
  return {
      .facts = {.bytes = 8, .peer = peer, .tag = 3, .call = call}, .state = State::done, .begin = begin, .end = end};
}

TEST(TraceWaits, AreForTheLastRank) {
  std::vector<Part> parts{rank_of(0, 3), rank_of(1, 3), rank_of(2, 3)};
  parts[0].calls = {collective(flight::Call::allreduce, 1, 100, 1000)};
  parts[1].calls = {collective(flight::Call::allreduce, 1, 900, 1000)};
  parts[2].calls = {collective(flight::Call::allreduce, 1, 300, 1000)};
  find_waits(parts);
  EXPECT_EQ(parts[0].calls[0].waited, 800);
  EXPECT_EQ(parts[0].calls[0].cause.part, 1);
  EXPECT_EQ(parts[2].calls[0].waited, 600);
  EXPECT_EQ(parts[2].calls[0].cause.part, 1);
  EXPECT_EQ(parts[1].calls[0].waited, 0);
  EXPECT_FALSE(parts[1].calls[0].cause);
}

/// A leaf that has left before another leaf came has not waited for that.
TEST(TraceWaits, OfABroadcastAreForItsRoot) {
  std::vector<Part> parts{rank_of(0, 3), rank_of(1, 3), rank_of(2, 3)};
  parts[0].calls = {collective(flight::Call::bcast, 1, 500, 510)};
  parts[1].calls = {collective(flight::Call::bcast, 1, 100, 520)};
  parts[2].calls = {collective(flight::Call::bcast, 1, 900, 910)};
  find_waits(parts);
  EXPECT_EQ(parts[1].calls[0].waited, 400);
  EXPECT_EQ(parts[1].calls[0].cause.part, 0);
  EXPECT_FALSE(parts[0].calls[0].cause);
  EXPECT_FALSE(parts[2].calls[0].cause);
}

TEST(TraceWaits, OfRequestsBeginWithTheWait) {
  std::vector<Part> parts{rank_of(0, 2), rank_of(1, 2)};
  TracedCall call = collective(flight::Call::allreduce, 1, 100, 1000);
  call.facts.form = Form::nonblocking;
  call.wait = 700;
  parts[0].calls = {call};
  call.begin = 900;
  call.wait = 0;  // it was complete when the program asked
  parts[1].calls = {call};
  find_waits(parts);
  EXPECT_EQ(parts[0].calls[0].waited, 200);
  EXPECT_FALSE(parts[1].calls[0].cause);
}

/// The program waits for two requests at a time; no time counts twice.
TEST(TraceWaits, DoNotOverlap) {
  std::vector<Part> parts{rank_of(0, 2), rank_of(1, 2)};
  for (const std::uint32_t number : {1U, 2U}) {
    TracedCall call = collective(flight::Call::allreduce, number, 10 * number, 400 + 200 * number);
    call.facts.form = Form::nonblocking;
    call.wait = 100 + number;
    parts[0].calls.push_back(call);
    call.begin = 300 + 200 * number;
    call.wait = 0;
    parts[1].calls.push_back(call);
  }
  find_waits(parts);
  EXPECT_EQ(parts[0].calls[0].wait, 101);
  EXPECT_EQ(parts[0].calls[0].waited, 399);
  EXPECT_EQ(parts[0].calls[1].wait, 600);
  EXPECT_EQ(parts[0].calls[1].waited, 100);
}

TEST(TraceWaits, NeedAllRanks) {
  std::vector<Part> parts{rank_of(0, 3), rank_of(1, 3)};
  parts[0].calls = {collective(flight::Call::allreduce, 1, 100, 1000)};
  parts[1].calls = {collective(flight::Call::allreduce, 1, 900, 1000)};
  find_waits(parts);
  EXPECT_FALSE(parts[0].calls[0].cause);
}

/// The starts of a persistent call share its number.
TEST(TraceWaits, TellStartsApart) {
  std::vector<Part> parts{rank_of(0, 2), rank_of(1, 2)};
  for (const std::int64_t begin : {100, 2000}) {
    TracedCall call = collective(flight::Call::allreduce, 4, begin, begin + 900);
    call.facts.form = Form::start;
    call.wait = begin + 1;
    parts[0].calls.push_back(call);
    call.begin += 500;
    call.wait = call.begin + 1;
    parts[1].calls.push_back(call);
  }
  find_waits(parts);
  EXPECT_EQ(parts[0].calls[0].waited, 499);
  EXPECT_EQ(parts[0].calls[1].waited, 499);
  EXPECT_EQ(parts[0].calls[1].cause.call, 1U);
}

TEST(TraceWaits, NameLateSendersAndReceivers) {
  std::vector<Part> parts{rank_of(0, 2), rank_of(1, 2)};
  parts[0].calls = {message(flight::Call::recv, 1, 100, 800), message(flight::Call::send, 1, 1000, 1600)};
  parts[1].calls = {message(flight::Call::send, 0, 700, 750), message(flight::Call::recv, 0, 1500, 1700)};
  find_waits(parts);
  EXPECT_EQ(parts[0].calls[0].waited, 600);
  EXPECT_EQ(parts[0].calls[0].cause.part, 1);
  EXPECT_EQ(parts[0].calls[0].message.call, 0U);
  EXPECT_EQ(parts[0].calls[1].waited, 500);
  EXPECT_EQ(parts[0].calls[1].cause.call, 1U);
  EXPECT_FALSE(parts[1].calls[0].cause);
}

TEST(TraceMessages, AreMatchedInOrder) {
  std::vector<Part> parts{rank_of(0, 2), rank_of(1, 2)};
  parts[0].calls = {message(flight::Call::send, 1, 10, 20), message(flight::Call::send, 1, 30, 40)};
  parts[1].calls = {message(flight::Call::recv, 0, 10, 20), message(flight::Call::recv, flight::any, 30, 40),
                    message(flight::Call::recv, 0, 50, 60)};
  parts[1].calls[0].facts.tag = 4;  // another stream
  const std::vector<Message> found = match_messages(parts);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].send.call, 0U);
  EXPECT_EQ(found[0].recv.call, 2U);
}

TEST(TraceMessages, OfGroupsTakePart) {
  std::vector<Part> parts{rank_of(0, 2), rank_of(1, 2)};
  parts[0].calls = {{.facts = {.call = flight::Call::group}, .state = State::done, .slot = 5, .begin = 10, .end = 20}};
  parts[0].transfers = {{5, true, 1, 3, 8}, {5, false, 1, 3, 8}};
  parts[1].calls = {message(flight::Call::recv, 0, 10, 20)};
  const std::vector<Message> found = match_messages(parts);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].send.part, 0);
  EXPECT_EQ(found[0].recv.part, 1);
}

/// A machine whose ticks are half a nanosecond.
void set_clock(Part& part, std::uint64_t machine, std::uint64_t realtime) {
  part.header.machine = machine;
  part.header.opened = {1'000'000, 5'000'000, realtime};
  part.header.seen = {3'000'000, 6'000'000, realtime + 1'000'000};
}

TEST(TraceClocks, OfOneMachineAreOne) {
  std::vector<Part> parts{rank_of(0, 2), rank_of(1, 2)};
  set_clock(parts[0], 1, 1'000'000'000);
  set_clock(parts[1], 1, 9'000'000'000);  // which was read late; the ticks count
  parts[0].calls = {collective(flight::Call::barrier, 1, 1'100'000, 1'200'000)};
  parts[1].calls = {collective(flight::Call::barrier, 1, 1'150'000, 0)};
  EXPECT_EQ(align(parts), "one machine, one clock");
  EXPECT_EQ(parts[0].calls[0].begin, 1);
  EXPECT_EQ(parts[0].calls[0].end, 50'001);
  EXPECT_EQ(parts[1].calls[0].begin, 25'001);
  EXPECT_EQ(parts[1].calls[0].end, 0);
}

TEST(TraceClocks, OfOtherMachinesAreMovedByWhatWasMeasured) {
  std::vector<Part> parts{rank_of(0, 2), rank_of(1, 2)};
  set_clock(parts[0], 1, 1'000'000'000);
  set_clock(parts[1], 2, 1'000'700'000);  // 700 us ahead
  parts[0].calls = {collective(flight::Call::barrier, 1, 1'000'000, 1'200'000)};
  parts[1].calls = {collective(flight::Call::barrier, 1, 1'000'000, 1'200'000),
                    collective(flight::Call::barrier, 2, 2'000'000, 3'000'000)};
  // At first both counters agree; in the end the other is 1000 ticks, 500 ns, late.
  parts[1].offsets = {{1'000'000, 1'000'000, 400}, {3'000'000, 3'001'000, 400}};
  const std::string words = align(parts);
  EXPECT_EQ(words, "node1: moved by -700.000 -699.500 us, measured to 0.100 us");
  EXPECT_EQ(parts[1].calls[0].begin, parts[0].calls[0].begin);
  EXPECT_EQ(parts[1].calls[1].begin, 500'001 + 250);
  EXPECT_EQ(parts[1].calls[1].end, 1'000'001 + 500);
}

TEST(TraceClocks, AreMeasuredByOneRankOfAMachine) {
  const std::vector<std::uint64_t> machines{1, 1, 2, 2, 1, 3};
  std::vector<int> first;
  for (int rank = 0; rank < 6; ++rank)
    if (is_first_of_machine(machines, rank)) first.push_back(rank);
  EXPECT_EQ(first, (std::vector<int>{2, 5}));
}

std::string written(const std::vector<Part>& parts) {
  char* text = nullptr;
  std::size_t bytes = 0;
  std::FILE* file = open_memstream(&text, &bytes);
  write_json(file, parts, "one");
  (void)std::fclose(file);
  const std::string whole(text, bytes);
  std::free(text);
  return whole;
}

TEST(TraceJson, HasEachEventInTheOrderOfTime) {
  std::vector<Part> parts{rank_of(0, 2), rank_of(1, 2)};
  parts[0].calls = {collective(flight::Call::allreduce, 1, 1000, 9500)};
  parts[1].calls = {collective(flight::Call::allreduce, 1, 8250, 9500)};
  parts[0].ranges = {{"a \"name\"", 0, 500, 9600}};
  find_waits(parts);
  constexpr const char* expected =
      R"json({"displayTimeUnit":"ns","otherData":{"writer":"tutti trace","clocks":"one","communicators":[{"mark":"000000000000004d","name":"first","world_ranks":[10,11]}]},"traceEvents":[
{"ph":"M","ts":0,"pid":10,"name":"process_name","args":{"name":"rank 10 (node1)","ended":true,"lost":0}},
{"ph":"M","ts":0,"pid":10,"name":"process_sort_index","args":{"sort_index":10}},
{"ph":"M","ts":0,"pid":11,"name":"process_name","args":{"name":"rank 11 (node1)","ended":true,"lost":0}},
{"ph":"M","ts":0,"pid":11,"name":"process_sort_index","args":{"sort_index":11}},
{"ph":"X","ts":0.500,"pid":10,"tid":0,"name":"a \"name\"","cat":"range","dur":9.100},
{"ph":"X","ts":1.000,"pid":10,"tid":0,"name":"allreduce","cat":"blocking","dur":8.500,"args":{"call":"allreduce","form":"blocking","state":"done","bytes":8,"path":"shm:slots","communicator":"first","mark":"000000000000004d","rank":0,"ranks":2,"sequence":1,"waited":7.250,"waited_for":11}},
{"ph":"X","ts":8.250,"pid":11,"tid":0,"name":"allreduce","cat":"blocking","dur":1.250,"args":{"call":"allreduce","form":"blocking","state":"done","bytes":8,"path":"shm:slots","communicator":"first","mark":"000000000000004d","rank":1,"ranks":2,"sequence":1}},
{"ph":"s","ts":8.250,"pid":11,"tid":0,"name":"waited for","cat":"wait","id":"w10.0"},
{"ph":"f","ts":8.250,"pid":10,"tid":0,"name":"waited for","cat":"wait","id":"w10.0","bp":"e"}
]}
)json";
  EXPECT_EQ(written(parts), expected);
}

TEST(TraceJson, DrawsAMessageAndACallInFlight) {
  std::vector<Part> parts{rank_of(0, 2), rank_of(1, 2)};
  TracedCall recv = message(flight::Call::recv, 1, 100, 900);
  recv.facts.form = Form::nonblocking;
  recv.wait = 300;
  parts[0].calls = {recv};
  parts[1].calls = {message(flight::Call::send, 0, 700, 800)};
  find_waits(parts);
  std::string order;
  for (const Event& event : events_of(parts)) order += fmt::format("{}@{} ", static_cast<int>(event.what), event.time);
  EXPECT_EQ(order, "2@100 4@100 3@300 1@700 5@700 7@700 9@900 ");
  EXPECT_NE(written(parts).find(R"("name":"wait irecv","cat":"wait","dur":0.600,"args":{"call":"recv")"),
            std::string::npos);
}

/// A call with counts and a group of messages say what they move, in the slice with which they begin.
TEST(TraceJson, HasBlocksMessagesAndRequests) {
  std::vector<Part> parts{rank_of(1, 3)};
  TracedCall call = collective(flight::Call::alltoallv, 1, 100, 900);
  call.facts.form = Form::nonblocking;
  call.slot = 4;
  call.wait = 300;
  TracedCall group{.facts = {.call = flight::Call::group}, .state = State::done, .slot = 9, .begin = 950, .end = 990};
  parts[0].calls = {call, group};
  parts[0].blocks[4] = {{8, 0, 16}, {4, 0, 0}};
  parts[0].transfers = {{7, false, 1, 3, 6}, {9, true, 0, 3, 8}, {9, false, 2, 5, 0}};
  const std::string text = written(parts);
  EXPECT_NE(text.find(R"("world_ranks":[-1,11,-1])"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("request":4,"took":0.800,"send_bytes":[8,0,16],"recv_bytes":[4,0,0]}})"), std::string::npos);
  EXPECT_NE(text.find(R"("request":4,"took":0.800}})"), std::string::npos) << "the wait has the request only\n" << text;
  EXPECT_NE(text.find(R"("messages":[{"source":0,"tag":3,"bytes":8},{"destination":2,"tag":5,"bytes":0}]}})"),
            std::string::npos);
}

TEST(TraceJson, EscapesTexts) {
  EXPECT_EQ(json_text("plain"), "\"plain\"");
  EXPECT_EQ(json_text("a\"b\\c\n"), R"("a\"b\\c\u000a")");
  EXPECT_EQ(json_text("gr\xc3\xbc\xc3\x9f"), "\"gr\xc3\xbc\xc3\x9f\"");
  EXPECT_EQ(json_text("cut \xc3"), "\"cut ?\"");
  EXPECT_EQ(json_text("\xff\x80x"), "\"??x\"");
}

}  // namespace
}  // namespace tutti::detail::trace
