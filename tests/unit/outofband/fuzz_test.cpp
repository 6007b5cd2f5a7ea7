// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "fuzz/random.hpp"
#include "outofband/endpoint.hpp"

// Whatever strangers send. TUTTI_TEST_SEED is the first seed, 1 by itself, GTEST_REPEAT the number of rounds.
namespace tutti::detail::outofband {
namespace {

using fuzz::Random;

constexpr Token token{17, {1, 2, 3, 4}};
constexpr std::uint64_t client_number = 5;
constexpr std::uint64_t server_number = 6;
const ServerHandshake::Tokens tokens = {{token.name, token.secret}};

class Fuzz : public testing::Test {
 protected:
  Fuzz() {
    const char* first = std::getenv("TUTTI_TEST_SEED");
    static std::uint64_t next = first == nullptr ? 1 : std::strtoull(first, nullptr, 10);
    seed = next++;
    random = Random(fuzz::mix(seed));
    RecordProperty("seed", std::to_string(seed));
  }
  void TearDown() override {
    if (HasFailure()) std::cout << "  TUTTI_TEST_SEED=" << seed << "\n";
  }

  std::vector<std::byte> bytes(std::size_t count) {
    std::vector<std::byte> all(count);
    for (std::byte& one : all) one = static_cast<std::byte>(random.below(256));
    return all;
  }
  Frame frame() {
    const auto kind = static_cast<Kind>(random.once_in(8) ? random.bits() : random.below(std::size_t{12}));
    const std::size_t usual = random.one_of(
        {std::size_t{0}, sizeof(std::uint64_t), sizeof(Notice), sizeof(Proof), sizeof(Hello), sizeof(Challenge)});
    return {kind,
            bytes(random.once_in(4) ? random.below(std::size_t{FrameReader::most_bytes_of_strangers} + 1) : usual)};
  }
  std::vector<std::byte> stream(std::span<const Frame> frames) {
    std::vector<std::byte> all;
    for (const Frame& one : frames) {
      const FrameHead head{one.kind, static_cast<std::uint32_t>(one.body.size())};
      const auto text = std::as_bytes(std::span(&head, 1));
      all.insert(all.end(), text.begin(), text.end());
      all.insert(all.end(), one.body.begin(), one.body.end());
    }
    return all;
  }
  void damage(std::vector<std::byte>& all) {
    for (int changes = random.below(4); changes >= 0 && !all.empty(); --changes) {
      const auto at = all.begin() + static_cast<std::ptrdiff_t>(random.below(all.size()));
      switch (random.below(4)) {
        case 0:
          *at ^= std::byte{1} << random.below(8);
          break;
        case 1:
          all.insert(at, static_cast<std::byte>(random.below(256)));
          break;
        case 2:
          all.erase(at);
          break;
        default:
          all.resize(static_cast<std::size_t>(at - all.begin()));
      }
    }
  }
  /// What comes of a stream in pieces of at most so many bytes, and whether all was taken.
  std::pair<std::vector<Frame>, bool> read(std::span<const std::byte> all, std::size_t most) {
    FrameReader reader;
    std::vector<Frame> frames;
    bool is_sound = true;
    while (is_sound && !all.empty()) {
      const std::size_t some = std::min(all.size(), 1 + random.below(most));
      is_sound = reader.read(all.first(some), frames);
      all = all.subspan(some);
    }
    return {frames, is_sound};
  }

  std::uint64_t seed = 0;
  Random random{0};
};

bool are_equal(std::span<const Frame> a, std::span<const Frame> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Frame& one, const Frame& two) { return one.kind == two.kind && one.body == two.body; });
}

TEST_F(Fuzz, FramesDoNotDependOnThePiecesThatBringThem) {
  for (int turn = 0; turn < 500; ++turn) {
    std::vector<Frame> sent(random.below(std::size_t{6}));
    for (Frame& one : sent) one = frame();
    std::vector<std::byte> all = stream(sent);
    const auto [frames, is_sound] = read(all, 1 + random.below(std::size_t{200}));
    ASSERT_TRUE(is_sound && are_equal(frames, sent)) << turn;
    damage(all);
    const auto [whole, is_whole_sound] = read(all, 100000);
    const auto [cut, is_cut_sound] = read(all, 1 + random.below(std::size_t{200}));
    ASSERT_EQ(is_whole_sound, is_cut_sound) << turn;
    ASSERT_TRUE(are_equal(whole, cut)) << turn;
    for (const Frame& one : whole) ASSERT_LE(one.body.size(), FrameReader::most_bytes_of_strangers) << turn;
  }
}

/// Frames of conversations that a stranger has heard.
std::vector<Frame> overheard() {
  ClientHandshake client({token, client_number}, server_number);
  ServerHandshake server;
  std::vector<Frame> all = {client.hello()};
  std::optional<Frame> answer;
  while (!client.is_welcome()) {
    if (!server.take(all.back(), tokens, server_number, answer)) return {};
    all.push_back(*answer);
    if (!client.take(all.back(), answer)) return {};
    all.push_back(*answer);
  }
  return all;
}

/// A client and a server, each of which a stranger talks to in the place of the other.
struct Between {
  ClientHandshake client{{token, client_number}, server_number};
  ServerHandshake server{};
  std::vector<Frame> said = {client.hello()};
  bool client_goes_on = true;
  bool server_goes_on = true;

  void to_client(const Frame& frame) {
    std::optional<Frame> answer;
    client_goes_on = client_goes_on && client.take(frame, answer);
    if (answer) said.push_back(*answer);
  }
  void to_server(const Frame& frame) {
    std::optional<Frame> answer;
    server_goes_on = server_goes_on && server.take(frame, tokens, server_number, answer);
    if (answer) said.push_back(*answer);
  }
  /// Whoever merely passes on what the two say has let them meet.
  [[nodiscard]] bool is_of_server(const Frame& frame) const {
    return frame.kind == Kind::challenge && std::any_of(said.begin(), said.end(), [&](const Frame& one) {
             return are_equal(std::span(&one, 1), std::span(&frame, 1));
           });
  }
};

TEST_F(Fuzz, NobodyWithoutTheSecretIsLetIn) {
  std::vector<Frame> heard;
  for (int i = 0; i < 3; ++i)
    for (Frame& one : overheard()) heard.push_back(std::move(one));
  ASSERT_FALSE(heard.empty());
  for (int turn = 0; turn < 500; ++turn) {
    Between both;
    for (int step = 0; step < 8; ++step) {
      const std::vector<Frame>& known = random.once_in(2) ? both.said : heard;
      Frame next = random.once_in(4) ? frame() : known[random.below(known.size())];
      if (random.once_in(3)) damage(next.body);
      if (random.once_in(2))
        both.to_server(next);
      else if (!both.is_of_server(next))
        both.to_client(next);
      ASSERT_EQ(both.server.client(), 0U) << turn;
      ASSERT_FALSE(both.client.is_welcome()) << turn;
    }
  }
}

/// Sends what it is given, and takes what comes.
void pour(const SocketAddress& to, std::span<const std::byte> all) {
  const Socket socket = Socket::connect(to);
  std::array<std::byte, 256> some;
  const auto end = Clock::now() + std::chrono::milliseconds(200);
  while (!all.empty() && Clock::now() < end) {
    const std::ptrdiff_t moved = socket.send(all);
    if (moved < 0 || socket.receive(some) < 0) return;
    all = all.subspan(static_cast<std::size_t>(moved));
  }
}

/// As one who knows the secret.
bool meets(Link& link) {
  ClientHandshake handshake({token, client_number}, server_number);
  link.send(handshake.hello());
  const auto end = Clock::now() + std::chrono::seconds(5);
  while (!handshake.is_welcome() && Clock::now() < end) {
    std::vector<Frame> frames;
    if (!link.flush() || !link.receive(frames)) return false;
    for (const Frame& one : frames) {
      std::optional<Frame> answer;
      if (!handshake.is_welcome() && !handshake.take(one, answer)) return false;
      if (answer) link.send(*answer);
    }
    if (frames.empty()) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return handshake.is_welcome();
}

/// On a busy machine the second that a stranger has may pass.
std::optional<Link> meet(const SocketAddress& at) {
  for (int i = 0; i < 10; ++i)
    if (Link link(Socket::connect(at)); meets(link)) return link;
  return std::nullopt;
}

TEST_F(Fuzz, AProcessLivesOnWhateverStrangersAndAcquaintancesSend) {
  const std::array<Address, 1> here = {own_interfaces(0).loopback.address};
  Endpoint endpoint;
  std::string problem;
  const Card card = endpoint.open(server_number, here, problem);
  ASSERT_EQ(card.count, 1U) << problem;
  endpoint.admit(token);
  endpoint.answer_by([](std::string_view question) { return std::string(question); });
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<Frame> frames(1 + random.below(std::size_t{50}));
    for (Frame& one : frames) one = frame();
    if (random.once_in(2)) frames[0] = ClientHandshake({token, client_number}, server_number).hello();
    std::vector<std::byte> all = stream(frames);
    if (random.once_in(2)) damage(all);
    pour(card.addresses[0], all);

    std::optional<Link> link = meet(card.addresses[0]);
    ASSERT_TRUE(link) << turn;
    for (int i = 0; i < 20; ++i) link->send(frame());
    EXPECT_TRUE(link->flush());
  }
  EXPECT_EQ(ask(card, {token, client_number}, "who?", std::chrono::seconds(5), problem), "who?") << problem;
  endpoint.leave();
}

}  // namespace
}  // namespace tutti::detail::outofband
