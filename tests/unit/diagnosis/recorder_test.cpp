// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/recorder.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace tutti::detail::flight {
namespace {

constexpr std::uint32_t entries = 64;

RecorderMemory memory(const std::string& folder = {}) {
  std::string problem;
  RecorderMemory made = RecorderMemory::create(bytes_for(entries), folder, problem);
  EXPECT_TRUE(made.valid()) << problem;
  return made;
}

/// A recorder, and its memory as another process maps it.
struct Fixture {
  Fixture() : Fixture(memory()) {}
  explicit Fixture(RecorderMemory&& made, bool has_threads = true)
      : view(static_cast<const std::byte*>(
            mmap(nullptr, bytes_for(entries), PROT_READ, MAP_SHARED, made.descriptor(), 0))),
        seen(view),
        recorder(std::move(made), entries, nullptr, has_threads) {}
  ~Fixture() { munmap(const_cast<std::byte*>(view), bytes_for(entries)); }
  [[nodiscard]] const Entry& entry(std::uint64_t number) const { return seen.entries[number % entries]; }

  const std::byte* view;
  Parts<const std::byte> seen;
  Recorder recorder;
};

TEST(Recorder, WritesItsProcess) {
  const Fixture fixture;
  const Header& header = *fixture.seen.header;
  EXPECT_EQ(header.magic.load(), magic);
  EXPECT_EQ(header.version, version);
  EXPECT_EQ(header.entries, entries);
  EXPECT_EQ(header.process, getpid());
  EXPECT_NE(std::string(header.command.data()).find("diagnosis_test"), std::string::npos);
  EXPECT_GT(header.opened.ticks, 0U);
  EXPECT_GT(header.opened.realtime, 0U);
}

TEST(Recorder, FollowsACall) {
  Fixture fixture;
  const TextNumber way = fixture.recorder.text("shm:slots");
  const std::uint64_t number = fixture.recorder.begin(
      {.bytes = 400, .communicator = 3, .sequence = 17, .peer = 1, .way = way, .call = Call::bcast},
      State::outstanding);
  EXPECT_EQ(fixture.entry(number).state.load(), State::outstanding);
  EXPECT_EQ(fixture.entry(number).end.load(), 0U);
  fixture.recorder.wait(number);
  EXPECT_EQ(fixture.entry(number).state.load(), State::waiting);
  fixture.recorder.end(number, State::done);
  const Entry& entry = fixture.entry(number);
  EXPECT_EQ(entry.state.load(), State::done);
  EXPECT_GE(entry.end.load(), entry.begin);
  EXPECT_EQ(entry.facts.bytes, 400U);
  EXPECT_EQ(entry.facts.sequence, 17U);
  EXPECT_EQ(entry.facts.peer, 1);
  EXPECT_EQ(entry.facts.call, Call::bcast);
  EXPECT_STREQ(fixture.seen.texts[entry.facts.way - 1].text.data(), "shm:slots");
  // A wait that is noted too late does not bring the call back.
  fixture.recorder.wait(number);
  EXPECT_EQ(fixture.entry(number).state.load(), State::done);
}

TEST(Recorder, NumbersTheCallsOfOneThreadWithoutGaps) {
  Fixture fixture(memory(), false);
  for (std::uint64_t i = 1; i <= 3 * entries; ++i) EXPECT_EQ(fixture.recorder.begin({}, State::running), i);
  EXPECT_EQ(fixture.seen.header->next.load(), 3 * entries) << "other processes see how many there are";
}

TEST(Recorder, KeepsTheLastCalls) {
  Fixture fixture;
  const std::uint64_t first = fixture.recorder.begin({.sequence = 1}, State::outstanding);
  for (std::uint32_t i = 2; i <= entries + 1; ++i) (void)fixture.recorder.begin({.sequence = i}, State::running);
  EXPECT_EQ(fixture.seen.header->next.load(), entries + 1);
  // The first one's place has another call now, which its end must not touch.
  fixture.recorder.end(first, State::failed);
  EXPECT_EQ(fixture.entry(first).facts.sequence, entries + 1);
  EXPECT_EQ(fixture.entry(first).state.load(), State::running);
  std::set<std::uint32_t> kept;
  for (std::uint32_t i = 0; i < entries; ++i) kept.insert(fixture.seen.entries[i].facts.sequence);
  EXPECT_EQ(kept.size(), entries);
  EXPECT_EQ(kept.count(1), 0U);
}

TEST(Recorder, EndsACallByItsRecording) {
  Fixture fixture;
  Recorder& recorder = fixture.recorder;
  {
    Recording recording({&recorder, recorder.begin({}, State::running)});
    recording.succeed();
  }
  EXPECT_EQ(fixture.entry(1).state.load(), State::done);
  { const Recording recording({&recorder, recorder.begin({}, State::running)}); }
  EXPECT_EQ(fixture.entry(2).state.load(), State::failed);
  {
    Recording recording({&recorder, recorder.begin({}, State::outstanding)});
    recording.hand_over();
  }
  EXPECT_EQ(fixture.entry(3).state.load(), State::outstanding);
  { const Recording nothing({}); }
}

TEST(Recorder, HasARowForEachCommunicator) {
  Fixture fixture;
  const std::uint32_t row = fixture.recorder.add_communicator(11, 2, 4, "world");
  const CommunicatorRow& seen = fixture.seen.communicators[row_of(row)];
  EXPECT_EQ(seen.mark.load(), 11U);
  EXPECT_EQ(seen.number, row);
  EXPECT_EQ(seen.rank, 2);
  EXPECT_EQ(seen.size, 4);
  EXPECT_STREQ(seen.name.data(), "world");
  fixture.recorder.remove_communicator(row);
  const std::uint32_t next = fixture.recorder.add_communicator(12, 0, 1, "");
  EXPECT_EQ(row_of(next), row_of(row));
  EXPECT_NE(next, row) << "calls of the one before would be taken for calls of this one";
  for (std::uint32_t i = 1; i < communicator_rows + 10; ++i) (void)fixture.recorder.add_communicator(100 + i, 0, 1, "");
  EXPECT_EQ(fixture.recorder.add_communicator(9, 0, 1, ""), communicator_rows - 1);
}

TEST(Recorder, NumbersTexts) {
  Fixture fixture;
  const TextNumber one = fixture.recorder.text("one");
  EXPECT_NE(one, 0);
  EXPECT_EQ(fixture.recorder.text("one"), one);
  EXPECT_NE(fixture.recorder.text("two"), one);
  for (std::uint32_t i = 0; i < text_rows; ++i) (void)fixture.recorder.text("text " + std::to_string(i));
  EXPECT_EQ(fixture.recorder.text("no room"), 0);
  EXPECT_EQ(fixture.recorder.text("one"), one);
}

TEST(Recorder, TakesCallsOfManyThreads) {
  Fixture fixture;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&fixture] {
      for (int i = 0; i < 1000; ++i) fixture.recorder.end(fixture.recorder.begin({}, State::running), State::done);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fixture.seen.header->next.load(), 4000U);
}

TEST(Recorder, OutlivesItsProcess) {
  char folder[] = "/tmp/tutti-recorder-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const pid_t child = fork();
  if (child == 0) {
    std::string problem;
    Recorder recorder(RecorderMemory::create(bytes_for(entries), folder, problem), entries);
    (void)recorder.begin({.sequence = 5}, State::running);
    (void)raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    ++files;
    EXPECT_EQ(file.file_size(), bytes_for(entries));
    EXPECT_EQ(file.status().permissions(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    EXPECT_NE(file.path().string().find(std::to_string(child)), std::string::npos);
  }
  EXPECT_EQ(files, 1U);
  std::filesystem::remove_all(folder);
}

TEST(Recorder, SaysWhyThereIsNoMemory) {
  std::string problem;
  EXPECT_FALSE(RecorderMemory::create(bytes_for(entries), "/no/such/folder", problem).valid());
  EXPECT_NE(problem.find("/no/such/folder"), std::string::npos);
}

TEST(Calls, HaveNames) {
  EXPECT_EQ(call_name(Call::reduce_scatter_block), "reduce_scatter_block");
  EXPECT_EQ(call_name(Call::make_communicator), "make_communicator");
  EXPECT_EQ(call_name(static_cast<Call>(200)), "unknown");
}

}  // namespace
}  // namespace tutti::detail::flight
