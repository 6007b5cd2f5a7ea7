// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/findings.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "diagnosis/recorder.hpp"
#include "diagnosis/snapshot.hpp"

namespace tutti::detail::flight {
namespace {

constexpr std::uint32_t slots = 64;
constexpr std::uint64_t mark = 77;

/// A rank of a job whose recorder the test writes.
class Rank {
 public:
  Rank(int rank, int size, std::uint64_t job = 5) {
    std::string problem;
    RecorderMemory memory = RecorderMemory::create(bytes_for(slots), "", problem);
    path_ = "/proc/self/fd/" + std::to_string(memory.descriptor());
    recorder_ = std::make_unique<Recorder>(std::move(memory), slots);
    recorder_->introduce(job, rank, size);
    world = recorder_->add_communicator(mark, rank, size, "world");
  }
  std::uint64_t call(Facts facts, State state) {
    facts.communicator = world;
    if (is_collective(facts.call)) recorder_->count(world, facts.sequence);
    const std::uint64_t number = recorder_->begin(facts, state);
    if (is_over(state)) recorder_->end(number, state);
    return number;
  }
  [[nodiscard]] Snapshot see() const {
    std::string problem;
    auto snapshot = read_snapshot(path_, problem);
    EXPECT_TRUE(snapshot) << problem;
    return *snapshot;
  }
  [[nodiscard]] std::vector<std::byte> bytes() const {
    std::ifstream file(path_, std::ios::binary);
    std::vector<char> read{std::istreambuf_iterator<char>(file), {}};
    std::vector<std::byte> all(read.size());
    std::memcpy(all.data(), read.data(), read.size());
    return all;
  }
  Recorder& recorder() { return *recorder_; }

  std::uint32_t world = 0;

 private:
  std::string path_;
  std::unique_ptr<Recorder> recorder_;
};

Facts allreduce(std::uint32_t sequence, std::uint64_t bytes = 400) {
  return {.bytes = bytes, .sequence = sequence, .call = Call::allreduce, .type = 13, .op = 1};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Snapshot, HasWhatTheRecorderHas) {
  Rank rank(1, 4);
  Facts facts = allreduce(1);
  facts.way = rank.recorder().text("shm:line");
  rank.call(facts, State::done);
  rank.call({.bytes = 8, .peer = 3, .tag = 9, .call = Call::recv}, State::running);
  const Snapshot seen = rank.see();
  EXPECT_EQ(seen.process, getpid());
  EXPECT_EQ(seen.world_rank, 1);
  EXPECT_EQ(seen.world_size, 4);
  EXPECT_EQ(seen.total, 2U);
  ASSERT_EQ(seen.calls.size(), 2U);
  EXPECT_EQ(seen.calls[0].way, "shm:line");
  EXPECT_GE(seen.calls[0].end, seen.calls[0].begin);
  EXPECT_EQ(seen.calls[1].end, 0);
  ASSERT_NE(seen.current(), nullptr);
  EXPECT_EQ(seen.current()->facts.tag, 9);
  EXPECT_NEAR(1e-9 * static_cast<double>(seen.calls[1].begin), static_cast<double>(time(nullptr)), 5);
  EXPECT_EQ(call_text(seen, seen.calls[0]), "allreduce #1 of communicator 'world' (float32, 400 B, sum)");
  EXPECT_EQ(call_text(seen, seen.calls[1]), "recv from rank 3, tag 9 (8 B, communicator 'world')");
}

TEST(Snapshot, NamesCommunicatorsThatAreFreed) {
  Rank rank(0, 1);
  Facts facts = allreduce(1);
  facts.communicator = rank.recorder().add_communicator(78, 0, 1, "");
  rank.recorder().end(rank.recorder().begin(facts, State::running), State::done);
  const auto text = [&] {
    const Snapshot seen = rank.see();
    return call_text(seen, seen.calls.at(0));
  };
  EXPECT_TRUE(contains(text(), "of communicator 0000004e ")) << text();
  rank.recorder().remove_communicator(facts.communicator);
  EXPECT_TRUE(contains(text(), "of a freed communicator ")) << text();
  (void)rank.recorder().add_communicator(79, 0, 1, "next");
  EXPECT_TRUE(contains(text(), "of a freed communicator ")) << text();
}

TEST(Snapshot, RefusesDamage) {
  Rank rank(0, 1);
  rank.call(allreduce(1), State::done);
  const std::vector<std::byte> good = rank.bytes();
  std::string problem;
  ASSERT_TRUE(read_snapshot(good, {}, problem)) << problem;
  for (std::size_t length = 0; length < good.size(); length += 61) {
    problem.clear();
    EXPECT_FALSE(read_snapshot(std::span(good).first(length), {}, problem)) << length;
    EXPECT_FALSE(problem.empty());
  }
  // Any byte may be wrong: the reader must end, with a snapshot or without.
  for (std::size_t i = 0; i < good.size(); i += 7) {
    std::vector<std::byte> bad = good;
    bad[i] ^= std::byte{0xff};
    const auto seen = read_snapshot(bad, {}, problem);
    if (!seen) continue;
    for (const SeenCall& call : seen->calls) EXPECT_FALSE(call_text(*seen, call).empty());
  }
}

TEST(Snapshot, DoesNotMistakeACommunicatorThatIsGone) {
  Rank rank(0, 1);
  rank.call(allreduce(1), State::done);
  rank.recorder().remove_communicator(rank.world);
  (void)rank.recorder().add_communicator(99, 0, 1, "other");
  const Snapshot seen = rank.see();
  EXPECT_EQ(seen.communicator(seen.calls[0]).mark, 0U);
}

TEST(Jobs, AreProcessesThatHaveMet) {
  Rank a(0, 2, 5);
  Rank b(1, 2, 5);
  Rank c(0, 1, 6);
  (void)c;
  Snapshot lone = c.see();
  lone.communicators[0].mark = 1234;
  const auto jobs = jobs_of({b.see(), lone, a.see()});
  ASSERT_EQ(jobs.size(), 2U);
  const Job& pair = jobs[0].size() == 2 ? jobs[0] : jobs[1];
  ASSERT_EQ(pair.size(), 2U);
  EXPECT_EQ(pair[0].world_rank, 0);
  EXPECT_EQ(pair[1].world_rank, 1);
}

TEST(Findings, NothingIsWrong) {
  Rank a(0, 2);
  Rank b(1, 2);
  for (Rank* rank : {&a, &b}) rank->call(allreduce(1), State::done);
  EXPECT_TRUE(find_all({a.see(), b.see()}, 0).empty());
}

TEST(Findings, TheFirstDivergence) {
  Rank a(0, 2);
  Rank b(1, 2);
  for (Rank* rank : {&a, &b}) rank->call(allreduce(1), State::done);
  a.call(allreduce(2), State::running);
  b.call({.bytes = 4, .sequence = 2, .peer = 0, .call = Call::bcast, .type = 3}, State::running);
  const auto found = find_divergences({a.see(), b.see()});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(contains(found[0].text, "rank 0 makes allreduce #2")) << found[0].text;
  EXPECT_TRUE(contains(found[0].text, "rank 1 makes bcast #2")) << found[0].text;
  EXPECT_EQ(found[0].ranks, (std::vector<int>{0, 1}));
  const auto waits = find_waits({a.see(), b.see()}, 0);
  ASSERT_EQ(waits.size(), 1U) << waits[0].text;
  EXPECT_EQ(waits[0].kind, FindingKind::deadlock) << "neither rank comes to the other's call: " << waits[0].text;
}

TEST(Findings, CountsAndTypesAndOperationsAndRootsAndForms) {
  const auto differs = [](Facts one, Facts other) {
    Rank a(0, 2);
    Rank b(1, 2);
    a.call(one, State::done);
    b.call(other, State::done);
    return find_divergences({a.see(), b.see()}).size() == 1;
  };
  const Facts sum = allreduce(1);
  EXPECT_FALSE(differs(sum, sum));
  EXPECT_TRUE(differs(sum, allreduce(1, 404)));
  for (const auto& change : std::vector<void (*)(Facts&)>{
           [](Facts& f) { f.type = 14; }, [](Facts& f) { f.op = 3; }, [](Facts& f) { f.peer = 1; },
           [](Facts& f) { f.form = Form::nonblocking; }, [](Facts& f) { f.call = Call::reduce; }}) {
    Facts other = sum;
    change(other);
    EXPECT_TRUE(differs(sum, other));
  }
  const Facts gather{.bytes = 4, .sequence = 1, .peer = 0, .call = Call::gatherv};
  Facts more = gather;
  more.bytes = 8;
  EXPECT_FALSE(differs(gather, more)) << "ranks of a gatherv give as much as they like";
}

TEST(Findings, WhoWaitsForWhom) {
  Rank a(0, 3);
  Rank b(1, 3);
  Rank c(2, 3);
  for (Rank* rank : {&a, &b, &c}) rank->call(allreduce(1), State::done);
  a.call(allreduce(2), State::running);
  b.call(allreduce(2), State::waiting);
  const auto found = find_waits({a.see(), b.see(), c.see()}, 0);
  ASSERT_EQ(found.size(), 2U);
  for (const Finding& finding : found) {
    EXPECT_EQ(finding.kind, FindingKind::wait);
    EXPECT_TRUE(contains(finding.text, "it waits for rank 2, which is in no recorded call since allreduce #1"))
        << finding.text;
  }
  EXPECT_TRUE(find_waits({a.see(), b.see(), c.see()}, 1000).empty()) << "not so long";
}

TEST(Findings, ACircleIsADeadlock) {
  Rank a(0, 3);
  Rank b(1, 3);
  Rank c(2, 3);
  a.call({.peer = 1, .tag = 1, .call = Call::recv}, State::running);
  b.call({.peer = 2, .tag = 1, .call = Call::recv}, State::running);
  c.call({.peer = 0, .tag = 1, .call = Call::recv}, State::running);
  const auto found = find_waits({a.see(), b.see(), c.see()}, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, FindingKind::deadlock);
  EXPECT_EQ(found[0].ranks.size(), 3U);
  EXPECT_TRUE(contains(found[0].text, "rank 2 waits for rank 0 in recv from rank 0")) << found[0].text;
}

TEST(Findings, AWaitForAnyRankIsNoCircle) {
  Rank a(0, 2);
  Rank b(1, 2);
  a.call({.peer = any, .tag = any, .call = Call::recv}, State::running);
  b.call({.peer = 0, .tag = 1, .call = Call::recv}, State::running);
  for (const Finding& finding : find_waits({a.see(), b.see()}, 0)) EXPECT_EQ(finding.kind, FindingKind::wait);
}

TEST(Findings, ADeadRank) {
  Rank a(0, 2);
  Rank b(1, 2);
  a.call(allreduce(1), State::running);
  Snapshot dead = b.see();
  dead.is_alive = false;
  const auto found = find_all({a.see(), dead}, 0);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].kind, FindingKind::death);
  EXPECT_TRUE(contains(found[1].text, "rank 1, which has died")) << found[1].text;
  dead.ended = true;
  EXPECT_EQ(find_deaths({a.see(), dead}).size(), 0U);
}

TEST(Findings, TheRankThatComesLast) {
  Rank a(0, 2);
  Rank b(1, 2);
  for (std::uint32_t i = 1; i <= 20; ++i) {
    a.call(allreduce(i), State::done);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    b.call(allreduce(i), State::done);
  }
  const auto found = find_late({a.see(), b.see()});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].ranks, std::vector<int>{1});
  EXPECT_TRUE(contains(found[0].text, "20 of the last 20")) << found[0].text;
}

TEST(Findings, LeaveOutCallsOfAnotherHostThatCannotBe) {
  Rank rank(0, 1);
  rank.call({.bytes = 400, .peer = 0, .tag = 3, .call = Call::recv}, State::running);
  const auto received = [&rank](auto&& damage) {
    Job job = {rank.see()};
    damage(job[0]);
    const Job there = from_bytes(to_bytes(job, 3));
    (void)find_all(there, 0);
    return there[0].calls.size();
  };
  const std::size_t all = received([](Snapshot& /*whole*/) {});
  EXPECT_EQ(received([](Snapshot& one) { one.calls[0].facts.communicator = communicator_rows; }), all - 1);
  EXPECT_EQ(received([](Snapshot& one) { one.calls[0].facts.communicator = 65535; }), all - 1);
  EXPECT_EQ(received([](Snapshot& one) { one.communicators.clear(); }), 0U);
  EXPECT_EQ(received([](Snapshot& one) { one.calls[0].facts.call = static_cast<Call>(calls); }), all - 1);
  EXPECT_EQ(received([](Snapshot& one) { one.calls[0].facts.form = static_cast<Form>(4); }), all - 1);
  EXPECT_EQ(received([](Snapshot& one) { one.calls[0].state = static_cast<State>(6); }), all - 1);
}

TEST(Findings, AreTheSameOnAnotherHost) {
  Rank first(0, 2);
  Rank second(1, 2);
  for (std::uint32_t k = 1; k <= 10; ++k) first.call({.bytes = 8, .sequence = k, .call = Call::allreduce}, State::done);
  first.call({.bytes = 400, .peer = 1, .tag = 3, .call = Call::recv}, State::running);
  second.call({.bytes = 400, .peer = 0, .tag = 3, .call = Call::recv}, State::running);
  const Job here = {first.see(), second.see()};
  const std::string bytes = to_bytes(here, 3);
  const Job there = from_bytes(bytes);
  ASSERT_EQ(there.size(), 2U);
  EXPECT_EQ(there[0].calls.size(), 3U);
  EXPECT_EQ(there[0].total, 11U);
  EXPECT_EQ(there[0].communicators.size(), here[0].communicators.size());
  ASSERT_EQ(find_waits(there, 0).size(), find_waits(here, 0).size());
  EXPECT_EQ(find_waits(there, 0).front().text, find_waits(here, 0).front().text);
  EXPECT_NE(find_waits(there, 0).front().text.find("tag 3"), std::string::npos);
  EXPECT_TRUE(from_bytes(bytes.substr(0, bytes.size() / 2)).empty());
  EXPECT_TRUE(from_bytes("nothing").empty());
}

}  // namespace
}  // namespace tutti::detail::flight
