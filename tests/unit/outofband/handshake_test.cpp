// SPDX-License-Identifier: BSD-3-Clause
#include "outofband/handshake.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace tutti::detail::outofband {
namespace {

constexpr Token token{17, {1, 2, 3, 4}};
constexpr std::uint64_t client_number = 5;
constexpr std::uint64_t server_number = 6;
const ServerHandshake::Tokens tokens = {{token.name, token.secret}};

/// What the two sides say to one another, which one that listens writes down.
struct Conversation {
  ClientHandshake client;
  ServerHandshake server{};
  std::vector<Frame> said{};

  explicit Conversation(const Token& known = token, std::uint64_t to = server_number)
      : client({known, client_number}, to) {}

  bool to_server(const Frame& frame) {
    std::optional<Frame> answer;
    said.push_back(frame);
    return server.take(frame, tokens, server_number, answer) && answer &&
           said.emplace_back(*answer).kind != Kind::hello;
  }
  bool to_client(const Frame& frame) {
    std::optional<Frame> answer;
    if (!client.take(frame, answer)) return false;
    if (answer) said.push_back(*answer);
    return true;
  }
  bool run() {
    return to_server(client.hello()) && to_client(said[1]) && to_server(said[2]) && to_client(said[4]) &&
           client.is_welcome() && server.client() == client_number;
  }
};

bool contains(const std::vector<std::byte>& body, const Token::Secret& secret) {
  const auto words = std::as_bytes(std::span(secret));
  for (std::size_t at = 0; at < words.size(); at += sizeof(std::uint64_t)) {
    const auto word = words.subspan(at, sizeof(std::uint64_t));
    if (std::search(body.begin(), body.end(), word.begin(), word.end()) != body.end()) return true;
  }
  return false;
}

TEST(Handshake, OfTwoThatKnowTheSecretDoesNotSendIt) {
  Conversation both;
  ASSERT_TRUE(both.run());
  for (const Frame& frame : both.said) EXPECT_FALSE(contains(frame.body, token.secret));
}

TEST(Handshake, EndsAtTheFirstFrameOfWhoDoesNotKnowTheSecret) {
  Token wrong = token;
  wrong.secret[3] ^= std::uint64_t{1} << 63U;
  Conversation stranger(wrong);
  EXPECT_TRUE(stranger.to_server(stranger.client.hello()));
  EXPECT_FALSE(stranger.to_client(stranger.said[1])) << "the client sees that the server knows another one";
  EXPECT_FALSE(stranger.to_server(Frame::of(Kind::proof, Proof{})));
  EXPECT_EQ(stranger.server.client(), 0U);
  Token unknown = token;
  ++unknown.name;
  Conversation another(unknown);
  EXPECT_FALSE(another.to_server(another.client.hello()));
  Conversation misled(token, server_number + 1);
  EXPECT_FALSE(misled.to_server(misled.client.hello())) << "it wants another process";
}

TEST(Handshake, IsOfNoUseToWhoHasHeardOne) {
  Conversation heard;
  ASSERT_TRUE(heard.run());
  Conversation again;
  ASSERT_TRUE(again.to_server(heard.said[0])) << "the same hello";
  EXPECT_FALSE(again.to_server(heard.said[3])) << "the same proof";
  Conversation served;
  EXPECT_FALSE(served.to_client(heard.said[1])) << "the same challenge";
}

TEST(Handshake, OfAServerIsNoProofOfAClient) {
  Conversation mirrored;
  ASSERT_TRUE(mirrored.to_server(mirrored.client.hello()));
  const auto challenge = mirrored.said[1].as<Challenge>(Kind::challenge);
  ASSERT_TRUE(challenge);
  EXPECT_FALSE(mirrored.to_server(Frame::of(Kind::proof, challenge->proof)));
}

TEST(Handshake, HasOneOrder) {
  for (const Kind kind : {Kind::proof, Kind::welcome, Kind::ask, Kind::ended, Kind{4711}}) {
    Conversation early;
    EXPECT_FALSE(early.to_server({kind, std::vector<std::byte>(sizeof(Hello))})) << static_cast<int>(kind);
    EXPECT_FALSE(early.to_client({kind, std::vector<std::byte>(sizeof(Challenge))})) << static_cast<int>(kind);
    EXPECT_FALSE(early.client.is_welcome());
  }
  Conversation both;
  ASSERT_TRUE(both.to_server(both.client.hello()));
  EXPECT_FALSE(both.to_server(both.client.hello())) << "a second hello";
  ASSERT_TRUE(both.to_client(both.said[1]));
  EXPECT_FALSE(both.to_client(both.said[1])) << "a second challenge";
}

// Whatever one bit of what is said is flipped.
TEST(Handshake, FailsWithAnyBitChanged) {
  for (std::size_t bit = 0; bit < 8 * sizeof(Challenge); ++bit) {
    Conversation both;
    ASSERT_TRUE(both.to_server(both.client.hello()));
    Frame challenge = both.said[1];
    challenge.body[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(both.to_client(challenge)) << bit;
  }
  for (std::size_t bit = 0; bit < 8 * sizeof(Hello); ++bit) {
    Conversation both;
    Frame hello = both.client.hello();
    hello.body[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(both.to_server(hello) && both.to_client(both.said[1])) << bit;
  }
  for (std::size_t bit = 0; bit < 8 * sizeof(Proof); ++bit) {
    Conversation both;
    ASSERT_TRUE(both.to_server(both.client.hello()) && both.to_client(both.said[1]));
    Frame proof = both.said[2];
    proof.body[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(both.to_server(proof)) << bit;
  }
}

}  // namespace
}  // namespace tutti::detail::outofband
