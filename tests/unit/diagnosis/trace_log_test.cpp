// SPDX-License-Identifier: BSD-3-Clause
// What a process writes to its part of a trace, and what is read of it.
#include "diagnosis/trace/log.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "diagnosis/recorder.hpp"
#include "diagnosis/trace/merge.hpp"
#include "diagnosis/trace/part.hpp"

namespace tutti::detail::trace {
namespace {

namespace fs = std::filesystem;
using flight::State;

/// A folder of its own, with the file of a trace.
class TraceLog : public testing::Test {
 protected:
  TraceLog() { fs::create_directories(folder_); }
  ~TraceLog() override { fs::remove_all(folder_); }
  [[nodiscard]] std::unique_ptr<Log> log() const {
    std::string problem;
    auto made = Log::create(file(), "program argument", problem);
    EXPECT_NE(made, nullptr) << problem;
    return made;
  }
  [[nodiscard]] std::string file() const { return (folder_ / "trace.json").string(); }
  [[nodiscard]] Part part(int rank) const {
    std::string problem;
    auto read = read_part(file() + "." + std::to_string(rank), problem);
    EXPECT_TRUE(read) << problem;
    return read ? *read : Part{};
  }

 private:
  fs::path folder_ = fs::temp_directory_path() / ("tutti_trace_log." + std::to_string(getpid()));
};

TEST_F(TraceLog, IsNotMergedThroughPlantedLinks) {
  const fs::path victim = file() + "-victim";
  std::ofstream(victim) << "mine";
  fs::create_symlink(victim, file());
  fs::create_symlink(victim, file() + ".unfinished");
  const auto written = log();
  written->introduce(5, 0, 1);
  written->finish();
  std::vector<std::string> lines;
  EXPECT_EQ(merge({file() + ".0"}, file(), lines), "");
  std::string kept;
  std::ifstream(victim) >> kept;
  EXPECT_EQ(kept, "mine");
  EXPECT_FALSE(fs::is_symlink(file()));
}

/// More blocks than one record holds, of two calls in turn.
TEST_F(TraceLog, WritesTheBlocksOfACall) {
  const auto written = log();
  written->introduce(5, 0, 1);
  std::vector<std::uint64_t> given(13);
  for (std::size_t i = 0; i < given.size(); ++i) given[i] = 100 * i + 7;
  const std::vector<std::uint64_t> taken(given.rbegin(), given.rend() - 1);
  const SlotNumber first = written->begin_call({.call = flight::Call::alltoallv}, State::running);
  written->add_blocks(first, false, given);
  written->add_blocks(first, true, taken);
  const SlotNumber second = written->begin_call({.call = flight::Call::alltoallv}, State::running);
  written->add_blocks(second, false, taken);
  written->add_blocks(0, false, given);
  written->finish();
  const Part read = part(0);
  ASSERT_EQ(read.calls.size(), 2U);
  ASSERT_EQ(read.blocks.size(), 2U);
  EXPECT_EQ(read.blocks.at(first).given, given);
  EXPECT_EQ(read.blocks.at(first).taken, taken);
  EXPECT_EQ(read.blocks.at(second).given, taken);
  EXPECT_TRUE(read.blocks.at(second).taken.empty());
}

TEST_F(TraceLog, WritesACall) {
  const auto written = log();
  written->introduce(5, 3, 4);
  written->add_text(7, "shm:slots");
  written->add_communicator(9, 0xabcU, 3, 4, "first");
  const SlotNumber slot = written->begin_call(
      {.bytes = 400, .communicator = 9, .sequence = 17, .way = 7, .call = flight::Call::allreduce}, State::outstanding);
  written->wait(slot);
  written->end_call(slot, State::done);
  written->finish();
  const Part read = part(3);
  EXPECT_EQ(read.header.world_rank, 3);
  EXPECT_EQ(read.header.world_size, 4);
  EXPECT_EQ(read.header.job, 5U);
  EXPECT_EQ(read.header.ended, 1U);
  EXPECT_EQ(read.header.lost, 0U);
  EXPECT_STREQ(read.header.command.data(), "program argument");
  ASSERT_EQ(read.calls.size(), 1U);
  const TracedCall& call = read.calls[0];
  EXPECT_EQ(call.facts.bytes, 400U);
  EXPECT_EQ(call.facts.sequence, 17U);
  EXPECT_EQ(call.state, State::done);
  EXPECT_LE(call.begin, call.wait);
  EXPECT_LE(call.wait, call.end);
  EXPECT_EQ(read.text(call.facts.way), "shm:slots");
  EXPECT_EQ(read.communicator(call).mark, 0xabcU);
  EXPECT_EQ(read.communicator(call).name, "first");
}

TEST_F(TraceLog, EndsACallThatBeganManyWindowsAgo) {
  const auto written = log();
  written->introduce(1, 0, 1);
  const SlotNumber first = written->begin_call({.call = flight::Call::recv}, State::outstanding);
  constexpr std::size_t calls = 3 * slots_per_window;
  for (std::size_t i = 0; i < calls; ++i)
    written->end_call(written->begin_call({.bytes = i}, State::running), State::done);
  const SlotNumber range = written->begin_range("across");  // takes two slots
  written->end_call(first, State::failed);
  written->end_range(range);
  written->finish();
  const Part read = part(0);
  ASSERT_EQ(read.calls.size(), calls + 1);
  EXPECT_EQ(read.calls[0].state, State::failed);
  EXPECT_GT(read.calls[0].end, read.calls[calls].end);
  for (std::size_t i = 0; i < calls; ++i) EXPECT_EQ(read.calls[i + 1].facts.bytes, i);
  ASSERT_EQ(read.ranges.size(), 1U);
  EXPECT_EQ(read.ranges[0].name, "across");
  EXPECT_NE(read.ranges[0].end, 0);
}

TEST_F(TraceLog, KeepsRecordsOfTwoSlotsInOneWindow) {
  const auto written = log();
  written->introduce(1, 0, 1);
  for (std::uint32_t i = 0; i + 1 < slots_per_window; ++i) (void)written->begin_call({}, State::running);
  const std::string name(200, 'x');
  written->end_range(written->begin_range(name));
  written->finish();
  const Part read = part(0);
  ASSERT_EQ(read.ranges.size(), 1U);
  EXPECT_EQ(read.ranges[0].name, name.substr(0, 103));
  EXPECT_EQ(read.calls.size(), slots_per_window - 1);
}

TEST_F(TraceLog, OutlivesItsProcess) {
  const pid_t child = fork();
  if (child == 0) {
    std::string problem;
    const auto written = Log::create(file(), "child", problem);
    written->introduce(1, 2, 3);
    written->end_call(written->begin_call({.bytes = 8}, State::running), State::done);
    (void)written->begin_call({.bytes = 16}, State::running);
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const Part read = part(2);
  EXPECT_EQ(read.header.ended, 0U);
  ASSERT_EQ(read.calls.size(), 2U);
  EXPECT_NE(read.calls[0].end, 0);
  EXPECT_EQ(read.calls[1].end, 0);
  EXPECT_EQ(read.calls[1].state, State::running);
}

TEST_F(TraceLog, SaysWhyThereIsNone) {
  std::string problem;
  EXPECT_EQ(Log::create("/nowhere/trace.json", "", problem), nullptr);
  EXPECT_NE(problem.find("/nowhere/trace.json"), std::string::npos);
  EXPECT_FALSE(read_part("/nowhere/trace.json.0", problem));
  std::ofstream(file()) << std::string(10000, 'x');
  EXPECT_FALSE(read_part(file(), problem));
  EXPECT_EQ(problem, "no part of a trace");
}

TEST_F(TraceLog, WritesNothingAfterItsEnd) {
  const auto written = log();
  written->introduce(1, 0, 1);
  const SlotNumber slot = written->begin_call({}, State::running);
  written->finish();
  EXPECT_EQ(written->begin_call({}, State::running), 0U);
  written->end_call(slot, State::done);
  EXPECT_EQ(part(0).calls.at(0).end, 0);
}

/// The ring of the flight recorder is short; the trace has all calls, and also the end of one that the ring has lost.
TEST_F(TraceLog, HasWhatTheRingHasLost) {
  constexpr std::uint32_t entries = 64;
  std::string problem;
  flight::RecorderMemory memory = flight::RecorderMemory::create(flight::bytes_for(entries), {}, problem);
  ASSERT_TRUE(memory.valid()) << problem;
  flight::Recorder recorder(std::move(memory), entries, log());
  const std::uint64_t early =
      recorder.begin({.peer = flight::any, .tag = flight::any, .call = flight::Call::recv}, State::outstanding);
  recorder.came_from(early, 4, 5);
  for (int i = 0; i < 200; ++i) recorder.end(recorder.begin({}, State::running), State::done);
  recorder.wait(early);
  recorder.end(early, State::done);
  recorder.introduce(1, 0, 1);
  recorder.log()->finish();
  const Part read = part(0);
  ASSERT_EQ(read.calls.size(), 201U);
  EXPECT_EQ(read.calls[0].facts.peer, 4);
  EXPECT_EQ(read.calls[0].facts.tag, 5);
  EXPECT_EQ(read.calls[0].state, State::done);
  EXPECT_NE(read.calls[0].wait, 0);
  EXPECT_GT(read.calls[0].end, read.calls[200].end);
}

}  // namespace
}  // namespace tutti::detail::trace
