// SPDX-License-Identifier: BSD-3-Clause
#include "outofband/link.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

namespace tutti::detail::outofband {
namespace {

/// A connection of this process with itself.
class Pair {
 public:
  Pair() {
    std::string problem;
    SocketAddress at;
    const Socket listener = Socket::listen(own_interfaces(0).loopback.address, at, problem);
    EXPECT_TRUE(listener.valid()) << problem;
    Socket caller = Socket::connect(at);
    Socket called;
    for (int i = 0; i < 1000 && !called.valid(); ++i) {
      called = listener.accept();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(called.valid());
    ends.reserve(2);
    ends.emplace_back(std::move(caller));
    ends.emplace_back(std::move(called));
  }
  /// Moves what is there until the other end has so many frames or the connection is lost.
  std::vector<Frame> deliver(std::size_t count) {
    std::vector<Frame> frames;
    for (int i = 0; i < 5000 && frames.size() < count && is_there; ++i) {
      (void)ends[0].flush();
      is_there = ends[1].receive(frames);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return frames;
  }
  std::vector<Link> ends;
  bool is_there = true;
};

TEST(Link, KeepsFramesApartAndWhole) {
  Pair pair;
  pair.ends[1].trust();
  const std::string text(3'000'001, 'x');
  pair.ends[0].send(Kind::beat);
  pair.ends[0].send(Kind::ended, std::uint64_t{4711});
  pair.ends[0].send(Kind::answer, bytes_of(text));
  const std::vector<Frame> frames = pair.deliver(3);
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[0].kind, Kind::beat);
  EXPECT_EQ(frames[1].as<std::uint64_t>(Kind::ended), 4711U);
  EXPECT_EQ(frames[2].body.size(), text.size());
  EXPECT_TRUE(
      std::all_of(frames[2].body.begin(), frames[2].body.end(), [](std::byte b) { return b == std::byte{'x'}; }));
  EXPECT_FALSE(frames[1].as<std::uint64_t>(Kind::notice)) << "another kind";
  EXPECT_FALSE(frames[1].as<Notice>(Kind::ended)) << "too short";
  EXPECT_FALSE(frames[1].as<std::uint32_t>(Kind::ended)) << "too long";
}

TEST(Link, TakesShortFramesOfStrangers) {
  Pair pair;
  const std::string text(FrameReader::most_bytes_of_strangers + 1, 'x');
  pair.ends[0].send(Kind::ask, bytes_of(text).first(FrameReader::most_bytes_of_strangers));
  EXPECT_EQ(pair.deliver(1).size(), 1U);
  pair.ends[0].send(Kind::ask, bytes_of(text));
  EXPECT_EQ(pair.deliver(1).size(), 0U);
  EXPECT_FALSE(pair.is_there);
}

TEST(Link, IsNotKeptByAFlood) {
  constexpr std::size_t most = std::size_t{512} << 10U;
  Pair pair;
  for (std::size_t sent = 0; sent < 16 * most; sent += sizeof(FrameHead)) pair.ends[0].send(Kind::beat);
  ASSERT_TRUE(pair.ends[0].flush());  // what the kernel takes
  std::vector<Frame> frames;
  EXPECT_TRUE(pair.ends[1].receive(frames));
  EXPECT_GT(frames.size(), 0U);
  EXPECT_LE(frames.size() * sizeof(FrameHead), most);
}

TEST(Link, SeesAClosedEndAndARefusal) {
  Pair pair;
  pair.ends.erase(pair.ends.begin());
  std::vector<Frame> frames;
  bool is_there = true;
  for (int i = 0; i < 1000 && is_there; ++i) {
    is_there = pair.ends[0].receive(frames);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_FALSE(is_there);

  SocketAddress at;
  std::string problem;
  { const Socket listener = Socket::listen(own_interfaces(0).loopback.address, at, problem); }
  Link refused(Socket::connect(at));
  is_there = true;
  for (int i = 0; i < 1000 && is_there; ++i) {
    is_there = refused.receive(frames);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(refused.error(), ECONNREFUSED);
}

}  // namespace
}  // namespace tutti::detail::outofband
