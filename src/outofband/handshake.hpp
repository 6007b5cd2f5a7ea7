// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "outofband/card.hpp"
#include "outofband/frame.hpp"

// Two processes of a group prove to one another that they know its secret, without sending it: each returns a hash,
// keyed by the secret, of random numbers of both (BLAKE2b of libsodium; the three passes of mutual authentication of
// ISO/IEC 9798-4). What follows is neither encrypted nor signed.
namespace tutti::detail::outofband {

/// What two processes must know before they talk.
struct Acquaintance {
  Token token{};
  std::uint64_t own = 0;  ///< the number of this process
};

using Nonce = std::array<std::uint64_t, 2>;
using Proof = std::array<std::byte, 32>;

struct Hello {
  std::uint64_t token;  ///< its name
  std::uint64_t from;
  std::uint64_t to;
  Nonce nonce;
};

struct Challenge {
  Nonce nonce;
  Proof proof;
};

/// The side of the process that connects.
class ClientHandshake {
 public:
  ClientHandshake(const Acquaintance& acquaintance, std::uint64_t to);

  /// The first frame.
  [[nodiscard]] Frame hello() const { return Frame::of(Kind::hello, hello_); }
  /// Takes the next frame, and gives the answer to it, if there is one. Returns false if the other process is not the
  /// one that was meant.
  [[nodiscard]] bool take(const Frame& frame, std::optional<Frame>& answer);
  [[nodiscard]] bool is_welcome() const noexcept { return is_welcome_; }

 private:
  Token::Secret secret_;
  Hello hello_;
  bool is_proven_ = false;
  bool is_welcome_ = false;
};

/// The side of the process that is connected with.
class ServerHandshake {
 public:
  using Tokens = std::map<std::uint64_t, Token::Secret>;

  /// As for the client. own: the number of this process.
  [[nodiscard]] bool take(const Frame& frame, const Tokens& tokens, std::uint64_t own, std::optional<Frame>& answer);
  /// The number of the client; 0: it has proven nothing yet.
  [[nodiscard]] std::uint64_t client() const noexcept { return is_proven_ ? hello_.from : 0; }

 private:
  [[nodiscard]] bool take_hello(const Frame& frame, const Tokens& tokens, std::uint64_t own,
                                std::optional<Frame>& answer);
  [[nodiscard]] bool take_proof(const Frame& frame, std::optional<Frame>& answer);

  Hello hello_{};
  Proof expected_{};
  bool is_challenged_ = false;
  bool is_proven_ = false;
};

}  // namespace tutti::detail::outofband
