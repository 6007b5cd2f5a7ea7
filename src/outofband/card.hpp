// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "outofband/interfaces.hpp"

namespace tutti::detail::outofband {

/// What the processes of a group know, and nobody else.
struct Token {
  using Secret = std::array<std::uint64_t, 4>;
  std::uint64_t name = 0;  ///< sent in plain
  Secret secret{};         ///< random, never sent
};

struct SocketAddress {
  Address address{};
  std::uint64_t port = 0;
};

/// Where a process can be reached, as plain bytes that ranks exchange.
struct Card {
  static constexpr std::size_t most_addresses = 8;
  Token token{};
  std::uint64_t process = 0;  ///< the random number of its identity
  std::uint64_t count = 0;    ///< of addresses; 0: it cannot be reached
  std::array<SocketAddress, most_addresses> addresses{};

  [[nodiscard]] std::span<const SocketAddress> reachable() const { return {addresses.data(), count}; }
};

/// "10.0.0.2".
[[nodiscard]] std::string text(const Address& address);
/// "10.0.0.2 port 4711".
[[nodiscard]] std::string text(const SocketAddress& one);
/// The first of a card, or "no address".
[[nodiscard]] std::string text(const Card& card);

}  // namespace tutti::detail::outofband
