// SPDX-License-Identifier: BSD-3-Clause
#include "outofband/endpoint.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <memory>
#include <thread>

#include "core/process_watch.hpp"

namespace tutti::detail::outofband {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Token token{99, {1, 2, 3, 4}};
constexpr Token other_token{99, {1, 2, 3, 5}};
const std::array<Address, 1> here = {own_interfaces(0).loopback.address};
constexpr std::uint64_t question = 5;

template <typename Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 5000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(1));
  return condition();
}

/// Processes 1 to size - 1 of a group, whose process 0 is the test. Each says its place as word and waits.
class Group {
 public:
  explicit Group(std::size_t size, Clock::duration limit = seconds(60)) : limit_(limit), cards_(size), pipes_(size) {
    for (std::size_t i = 1; i < size; ++i) begin(i);
    std::string problem;
    cards_[0] = own_.open(1000, here, problem);
    own_.admit(token);
    for (std::size_t i = 1; i < size; ++i)
      EXPECT_EQ(read(pipes_[i].up[0], &cards_[i], sizeof(Card)), ssize_t{sizeof(Card)});
    for (std::size_t i = 1; i < size; ++i)
      EXPECT_EQ(write(pipes_[i].down[1], cards_.data(), size * sizeof(Card)),
                static_cast<ssize_t>(size * sizeof(Card)));
  }
  ~Group() {
    own_.leave();
    for (const auto& pipe : pipes_)
      if (pipe.process != 0) {
        kill(pipe.process, SIGKILL);
        waitpid(pipe.process, nullptr, 0);
      }
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// Returns once all watch, as the library does.
  [[nodiscard]] std::string watch() {
    std::string problem = own_.watch(cards_, 0, token, limit_, seconds(10));
    for (std::size_t place = 1; place < cards_.size(); ++place)
      if (!soon([&] { return own_.heard(question, place) == place; })) problem += " and not all watch";
    return problem;
  }
  void signal(std::size_t place, int number) const { kill(pipes_[place].process, number); }
  [[nodiscard]] const Card& card(std::size_t place) const { return cards_[place]; }
  [[nodiscard]] Endpoint& own() { return own_; }

  static std::uint64_t number_of(std::size_t place) { return 1000 + place; }
  /// As a communicator watches it.
  static std::shared_ptr<const ProcessWatch> watch_of(std::size_t place) {
    return ProcessWatch::of({number_of(place), 0, 0, static_cast<std::int32_t>(place)}, ProcessWatch::Method::told);
  }

 private:
  struct Pipe {
    std::array<int, 2> up{};
    std::array<int, 2> down{};
    pid_t process = 0;
  };

  void begin(std::size_t place) {
    Pipe& mine = pipes_[place];
    ASSERT_EQ(pipe(mine.up.data()), 0);
    ASSERT_EQ(pipe(mine.down.data()), 0);
    mine.process = fork();
    if (mine.process == 0) be(place);
  }
  /// Leaves at SIGTERM.
  [[noreturn]] void be(std::size_t place) {
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigprocmask(SIG_BLOCK, &end, nullptr);
    std::string problem;
    Endpoint endpoint;
    const Card card = endpoint.open(number_of(place), here, problem);
    endpoint.admit(token);
    endpoint.answer_by([place](std::string_view asked) { return std::string(asked) + std::to_string(place); });
    if (write(pipes_[place].up[1], &card, sizeof card) != ssize_t{sizeof card}) _exit(1);
    const auto bytes = static_cast<ssize_t>(cards_.size() * sizeof(Card));
    if (read(pipes_[place].down[0], cards_.data(), static_cast<std::size_t>(bytes)) != bytes) _exit(1);
    (void)endpoint.watch(cards_, place, token, limit_, seconds(10));
    endpoint.say({question, place, place});
    int number = 0;
    sigwait(&end, &number);
    endpoint.leave();
    _exit(0);
  }

  Clock::duration limit_;
  std::vector<Card> cards_;
  std::vector<Pipe> pipes_;
  Endpoint own_;
};

TEST(Endpoint, AnswersThoseWhoKnowTheToken) {
  Group group(2);
  std::string problem;
  const auto answer = ask(group.card(1), {token, Group::number_of(0)}, "who? ", seconds(5), problem);
  ASSERT_TRUE(answer) << problem;
  EXPECT_EQ(*answer, "who? 1");
  EXPECT_FALSE(ask(group.card(1), {other_token, Group::number_of(0)}, "who? ", seconds(1), problem));
  EXPECT_NE(problem.find(" port " + std::to_string(group.card(1).addresses[0].port)), std::string::npos) << problem;
  Card other = group.card(1);  // a process that has its address now
  other.process += 77;
  EXPECT_FALSE(ask(other, {token, Group::number_of(0)}, "who? ", seconds(1), problem));
}

bool is_refused(const SocketAddress& address) {
  Link link(Socket::connect(address));
  std::vector<Frame> frames;
  bool is_there = true;
  return soon([&] { return !(is_there = is_there && link.receive(frames)); }) && link.error() == ECONNREFUSED;
}

TEST(Endpoint, ListensAtItsAddressesAlone) {
  Endpoint endpoint;
  std::string problem;
  const Card card = endpoint.open(5, here, problem);
  ASSERT_EQ(card.count, 1U) << problem;
  endpoint.admit(token);
  EXPECT_EQ(ask(card, {token, 6}, "who?", seconds(5), problem), "") << problem;
  SocketAddress other = card.addresses[0];
  other.address[15] = 2;  // 127.0.0.2
  EXPECT_TRUE(is_refused(other));
  constexpr std::array<Address, 2> more = {Address{0x20, 0x01, 0x0d, 0xb8},
                                           Address{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 2}};
  const Card both = endpoint.open(5, more, problem);  // no host has the first one: it is for documents
  ASSERT_EQ(both.count, 1U);
  EXPECT_EQ(problem, "");
  EXPECT_EQ(ask(both, {token, 6}, "who?", seconds(5), problem), "") << problem;
  endpoint.leave();
}

std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

TEST(Endpoint, StrangersWhoSayNothingTakeFewDescriptorsAndAreSentAway) {
  constexpr std::size_t strangers = 150;
  Endpoint endpoint;
  std::string problem;
  const Card card = endpoint.open(5, here, problem);
  ASSERT_EQ(card.count, 1U) << problem;
  endpoint.admit(token);
  endpoint.answer_by([](std::string_view) { return std::string("here"); });
  const std::ptrdiff_t before = open_descriptors();
  std::vector<Link> silent;
  for (std::size_t i = 0; i < strangers; ++i) silent.emplace_back(Socket::connect(card.addresses[0]));
  std::ptrdiff_t most = 0;
  const auto has_gone = [](Link& one) {
    std::vector<Frame> frames;
    return !one.receive(frames);
  };
  EXPECT_TRUE(soon([&] {
    most = std::max(most, open_descriptors() - before - static_cast<std::ptrdiff_t>(strangers));
    return std::all_of(silent.begin(), silent.end(), has_gone);
  }));
  EXPECT_GT(most, 10);
  EXPECT_LE(most, 64);
  const auto answer = ask(card, {token, 6}, "who?", seconds(5), problem);
  EXPECT_EQ(answer, "here") << problem;
  endpoint.leave();
}

TEST(Endpoint, IsNotHeldUpByAnAnswer) {
  Endpoint endpoint;
  std::string problem;
  const Card card = endpoint.open(5, here, problem);
  endpoint.admit(token);
  std::atomic<bool> is_asked{false};
  std::atomic<bool> goes_on{false};
  endpoint.answer_by([&](std::string_view) {
    is_asked = true;
    (void)soon([&] { return goes_on.load(); });
    return std::string("late");
  });
  std::thread asks([&] {
    std::string why;
    EXPECT_EQ(ask(card, {token, 6}, "who?", seconds(10), why), "late") << why;
  });
  EXPECT_TRUE(soon([&] { return is_asked.load(); }));
  const auto begin = Clock::now();
  endpoint.admit({token.name + 1, token.secret});
  EXPECT_LT(Clock::now() - begin, seconds(2));
  goes_on = true;
  asks.join();
  endpoint.leave();
}

TEST(Endpoint, AQuestionCanBeGivenUp) {
  std::string problem;
  Card silent;
  const Socket listener = Socket::listen(here[0], silent.addresses[0], problem);
  silent.count = 1;
  std::atomic<bool> is_over{false};
  std::thread ends([&] {
    std::this_thread::sleep_for(milliseconds(100));
    is_over = true;
  });
  const auto begin = Clock::now();
  EXPECT_FALSE(ask(silent, {token, 6}, "who?", seconds(20), problem, is_over));
  EXPECT_LT(Clock::now() - begin, seconds(5));
  ends.join();
}

TEST(Endpoint, WhoeverIsKilledHasEndedForAllAndWhoeverLeavesHasNot) {
  constexpr std::size_t size = 6;  // process 0 has connections to 1, 2 and 4
  Group group(size);
  ASSERT_EQ(group.watch(), "");
  const auto third = Group::watch_of(3);
  const auto second = Group::watch_of(2);
  EXPECT_FALSE(third->has_ended());
  group.signal(2, SIGTERM);
  group.signal(3, SIGKILL);
  EXPECT_TRUE(soon([&] { return third->has_ended(); }));
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_FALSE(second->has_ended());
  EXPECT_FALSE(Group::watch_of(1)->has_ended());
}

TEST(Endpoint, WhoeverIsSilentHasEnded) {
  Group group(3, milliseconds(400));
  ASSERT_EQ(group.watch(), "");
  const auto first = Group::watch_of(1);
  const auto begin = Clock::now();
  group.signal(1, SIGSTOP);
  EXPECT_TRUE(soon([&] { return first->has_ended(); }));
  EXPECT_GE(Clock::now() - begin, milliseconds(100));
  std::this_thread::sleep_for(milliseconds(600));
  EXPECT_FALSE(Group::watch_of(2)->has_ended());
}

TEST(Endpoint, WordsReachAll) {
  constexpr std::size_t size = 7;
  Group group(size);
  ASSERT_EQ(group.watch(), "");
  for (std::size_t place = 1; place < size; ++place)
    EXPECT_TRUE(soon([&] { return group.own().heard(question, place) == place; })) << place;
  EXPECT_EQ(group.own().heard(question, 0), 0U);
  EXPECT_EQ(group.own().heard(question + 1, 1), 0U);
  group.own().say({question, 1, 12});  // the first one counts
  EXPECT_EQ(group.own().heard(question, 1), 1U);
}

TEST(Endpoint, SaysWhoCannotBeReached) {
  Group group(2);
  Endpoint other;
  std::string problem;
  std::array<Card, 2> cards = {other.open(5, here, problem), group.card(1)};
  cards[1].process += 77;
  const std::string text = other.watch(cards, 0, token, seconds(1), milliseconds(200));
  EXPECT_NE(text.find("no connection to "), std::string::npos) << text;
  other.leave();
}

}  // namespace
}  // namespace tutti::detail::outofband
