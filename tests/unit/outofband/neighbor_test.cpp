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

/// A process that a neighbor watches, played by the test.
class Other {
 public:
  Other() {
    std::string problem;
    listener_ = Socket::listen(card_.port, problem);
    EXPECT_TRUE(listener_.valid()) << problem;
    write_own_addresses(card_);
    card_.process = 7;
  }
  /// Lets a neighbor in. Returns false if it has not come.
  bool welcome(Neighbor& neighbor, Clock::time_point now) {
    for (int i = 0; i < 2000; ++i) {
      neighbor.step(now + milliseconds(i), heard_);
      if (neighbor.is_new()) return true;
      if (Socket socket = listener_.accept(); socket.valid()) link_.emplace(std::move(socket));
      std::vector<Frame> frames;
      if (link_ && link_->receive(frames) && !frames.empty()) link_->send(Kind::welcome);
      if (link_) (void)link_->flush();
      std::this_thread::sleep_for(milliseconds(1));
    }
    return false;
  }
  /// Breaks the connection, as a network does that is gone for a while.
  void hang_up() { link_.reset(); }
  [[nodiscard]] const Card& card() const { return card_; }

 private:
  Card card_{};
  Socket listener_;
  std::optional<Link> link_{};
  std::vector<Frame> heard_{};
};

TEST(Neighbor, IsNotTakenForDeadByAProcessWithoutDescriptors) {
  constexpr milliseconds limit{2000};
  Other other;
  Clock::time_point now{seconds(1000)};
  Neighbor neighbor(other.card(), {1, 2}, limit, now);
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
  Neighbor neighbor(other.card(), {1, 2}, limit, now);
  ASSERT_TRUE(other.welcome(neighbor, now));
  std::vector<Frame> heard;
  neighbor.step(now + limit / 2, heard);
  EXPECT_EQ(neighbor.state(), Neighbor::State::up);
  neighbor.step(now + 3 * limit, heard);
  EXPECT_EQ(neighbor.state(), Neighbor::State::ended);
}

}  // namespace
}  // namespace tutti::detail::outofband
