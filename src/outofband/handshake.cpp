// SPDX-License-Identifier: BSD-3-Clause
#include "outofband/handshake.hpp"

#include <sodium.h>

#include "core/random_word.hpp"

namespace tutti::detail::outofband {
namespace {

/// A proof of one side is none of the other's.
enum class Side : std::uint64_t { client = 1, server = 2 };

struct Statement {
  Side side;
  Hello hello;
  Nonce nonce;  ///< the server's
};

Nonce random_nonce() { return {random_word(), random_word()}; }

Proof prove(const Token::Secret& secret, const Statement& statement) {
  Proof proof;
  const auto* text = reinterpret_cast<const unsigned char*>(&statement);
  (void)crypto_generichash_blake2b(reinterpret_cast<unsigned char*>(proof.data()), sizeof proof, text, sizeof statement,
                                   reinterpret_cast<const unsigned char*>(secret.data()), sizeof secret);
  return proof;
}

/// Takes as long wherever the two differ.
bool are_equal(const Proof& a, const Proof& b) { return sodium_memcmp(a.data(), b.data(), sizeof a) == 0; }

}  // namespace

ClientHandshake::ClientHandshake(const Acquaintance& acquaintance, std::uint64_t to)
    : secret_(acquaintance.token.secret), hello_{acquaintance.token.name, acquaintance.own, to, random_nonce()} {}

bool ClientHandshake::take(const Frame& frame, std::optional<Frame>& answer) {
  if (is_proven_) return is_welcome_ = frame.kind == Kind::welcome;
  const auto challenge = frame.as<Challenge>(Kind::challenge);
  if (!challenge || !are_equal(challenge->proof, prove(secret_, {Side::server, hello_, challenge->nonce})))
    return false;
  answer = Frame::of(Kind::proof, prove(secret_, {Side::client, hello_, challenge->nonce}));
  return is_proven_ = true;
}

bool ServerHandshake::take(const Frame& frame, const Tokens& tokens, std::uint64_t own, std::optional<Frame>& answer) {
  return is_challenged_ ? take_proof(frame, answer) : take_hello(frame, tokens, own, answer);
}

bool ServerHandshake::take_hello(const Frame& frame, const Tokens& tokens, std::uint64_t own,
                                 std::optional<Frame>& answer) {
  const auto hello = frame.as<Hello>(Kind::hello);
  const auto token = hello ? tokens.find(hello->token) : tokens.end();
  if (token == tokens.end() || hello->to != own || hello->from == 0) return false;
  hello_ = *hello;
  const Nonce nonce = random_nonce();
  expected_ = prove(token->second, {Side::client, hello_, nonce});
  answer = Frame::of(Kind::challenge, Challenge{nonce, prove(token->second, {Side::server, hello_, nonce})});
  return is_challenged_ = true;
}

bool ServerHandshake::take_proof(const Frame& frame, std::optional<Frame>& answer) {
  const auto proof = frame.as<Proof>(Kind::proof);
  if (!proof || !are_equal(*proof, expected_)) return false;
  answer = Frame{.kind = Kind::welcome};
  return is_proven_ = true;
}

}  // namespace tutti::detail::outofband
