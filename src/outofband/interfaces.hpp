// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti::detail::outofband {

/// An address of IPv6, or one of IPv4 mapped into it.
using Address = std::array<std::uint8_t, 16>;

[[nodiscard]] bool is_v4(const Address& address);

struct Interface {
  Address address{};
  std::uint64_t network = 0;  ///< a hash, equal for two addresses of one network
};

/// The interfaces that are up in a process's network namespace, as plain bytes that ranks exchange.
struct Interfaces {
  static constexpr std::size_t most = 16;
  Interface loopback{};     ///< its network is the namespace itself
  std::uint64_t count = 0;  ///< of the others
  std::array<Interface, most> others{};
};

/// Those of this process. machine: of the running kernel, as its identity has it.
[[nodiscard]] Interfaces own_interfaces(std::uint64_t machine);

/// The addresses at which the processes of a group reach one of them: the loopback's if all are in one network
/// namespace, otherwise those of networks that all of them are in, or all but the loopback's where there are none. A
/// network in which two hosts have one address, such as that of a container engine, leads nowhere.
[[nodiscard]] std::vector<Address> addresses_for(std::span<const Interfaces> group, std::size_t own);

}  // namespace tutti::detail::outofband
