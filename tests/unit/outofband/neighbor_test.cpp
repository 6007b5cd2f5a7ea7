// SPDX-License-Identifier: BSD-3-Clause
#include "outofband/neighbor.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <utility>

#include "support/no_descriptors.hpp"

namespace tutti::detail::outofband {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Token token{1, {2, 3, 4, 5}};

/// A process that a neighbor watches, played by the test.
class Other {
 public:
  Other() {
    std::string problem;
    listener_ = Socket::listen(own_interfaces(0).loopback.address, card_.addresses[0], problem);
    EXPECT_TRUE(listener_.valid()) << problem;
    card_.count = 1;
    card_.process = 7;
  }
  /// Lets a neighbor in. Returns false if it has not come.
  bool welcome(Neighbor& neighbor, Clock::time_point now) {
    for (int i = 0; i < 2000; ++i) {
      neighbor.step(now + milliseconds(i), heard_);
      if (neighbor.is_new()) return true;
      if (Socket socket = listener_.accept(); socket.valid()) {
        link_.emplace(std::move(socket));
        handshake_ = {};
      }
      if (link_) shake_hands();
      std::this_thread::sleep_for(milliseconds(1));
    }
    return false;
  }
  /// Says something else to a neighbor that comes. Returns true if it goes away without a word.
  bool pretend(Neighbor& neighbor, Clock::time_point now, const Frame& says) {
    link_.reset();
    for (int i = 0; i < 2000; ++i) {
      std::vector<Frame> heard;
      neighbor.step(now, heard);
      if (!heard.empty()) return false;
      std::vector<Frame> hello;
      if (link_ && !link_->receive(hello)) return true;
      if (Socket socket = listener_.accept(); !link_ && socket.valid()) link_.emplace(std::move(socket)).send(says);
      if (link_) (void)link_->flush();
      std::this_thread::sleep_for(milliseconds(1));
    }
    return false;
  }
  /// Breaks the connection, as a network does that is gone for a while.
  void hang_up() { link_.reset(); }
  [[nodiscard]] const Card& card() const { return card_; }

 private:
  void shake_hands() {
    std::vector<Frame> frames;
    (void)link_->receive(frames);
    for (const Frame& frame : frames) {
      std::optional<Frame> answer;
      if (handshake_.take(frame, {{token.name, token.secret}}, card_.process, answer) && answer) link_->send(*answer);
    }
    (void)link_->flush();
  }
  ServerHandshake handshake_{};
  Card card_{};
  Socket listener_;
  std::optional<Link> link_{};
  std::vector<Frame> heard_{};
};

TEST(Neighbor, IsNotTakenForDeadByAProcessWithoutDescriptors) {
  constexpr milliseconds limit{2000};
  Other other;
  Clock::time_point now{seconds(1000)};
  Neighbor neighbor(other.card(), {token, 2}, limit, now);
  ASSERT_TRUE(other.welcome(neighbor, now));
  other.hang_up();
  std::vector<Frame> heard;
  {
    const test::NoDescriptors none;
    // Another thread of the program takes the descriptor of the old connection at once.
    std::optional<test::NoDescriptors> more;
    for (int i = 0; i < 20; ++i) {
      neighbor.step(now += limit / 4, heard);
      if (neighbor.state() == Neighbor::State::lost && !more) more.emplace();
      std::this_thread::sleep_for(milliseconds(1));
    }
    EXPECT_EQ(neighbor.state(), Neighbor::State::lost);
  }
  EXPECT_TRUE(other.welcome(neighbor, now));
  EXPECT_EQ(neighbor.state(), Neighbor::State::up);
}

TEST(Neighbor, ThatIsSilentHasEnded) {
  constexpr milliseconds limit{2000};
  Other other;
  Clock::time_point now{seconds(1000)};
  Neighbor neighbor(other.card(), {token, 2}, limit, now);
  ASSERT_TRUE(other.welcome(neighbor, now));
  std::vector<Frame> heard;
  neighbor.step(now + limit / 2, heard);
  EXPECT_EQ(neighbor.state(), Neighbor::State::up);
  neighbor.step(now + 3 * limit, heard);
  EXPECT_EQ(neighbor.state(), Neighbor::State::ended);
}

TEST(Neighbor, DoesNotBelieveAProcessThatHasThePortOfTheOther) {
  Other other;
  const std::vector<Frame> says = {Frame{.kind = Kind::welcome}, Frame::of(Kind::ended, std::uint64_t{11}),
                                   Frame{.kind = Kind::left}, Frame::of(Kind::challenge, Challenge{})};
  for (const Frame& first : says) {
    Clock::time_point now{seconds(1000)};
    Neighbor neighbor(other.card(), {token, 2}, seconds(2), now);
    EXPECT_TRUE(other.pretend(neighbor, now, first)) << static_cast<int>(first.kind);
    EXPECT_EQ(neighbor.state(), Neighbor::State::connecting) << static_cast<int>(first.kind);
  }
}

}  // namespace
}  // namespace tutti::detail::outofband
