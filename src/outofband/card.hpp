// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace tutti::detail::outofband {

/// An address of IPv6, or one of IPv4 mapped into it.
using Address = std::array<std::uint8_t, 16>;

/// Where a process can be reached, as plain bytes that ranks exchange.
struct Card {
  static constexpr std::size_t most_addresses = 8;
  std::uint64_t secret = 0;   ///< random
  std::uint64_t process = 0;  ///< the random number of its identity
  std::uint16_t port = 0;     ///< 0: it cannot be reached
  std::uint16_t count = 0;    ///< of addresses
  std::array<Address, most_addresses> addresses{};

  [[nodiscard]] std::span<const Address> reachable() const { return {addresses.data(), count}; }
};

/// Writes the addresses of this host into a card: those of interfaces that are up, or the loopback's if there are no
/// others.
void write_own_addresses(Card& card);

/// "10.0.0.2".
[[nodiscard]] std::string text(const Address& address);

}  // namespace tutti::detail::outofband
