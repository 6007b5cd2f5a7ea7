// SPDX-License-Identifier: BSD-3-Clause
#include "outofband/interfaces.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "core/hash.hpp"
#include "core/random_word.hpp"

namespace tutti::detail::outofband {
namespace {

Address address_of(const sockaddr& one) {
  Address address{};
  if (one.sa_family == AF_INET6) {
    std::memcpy(address.data(), &reinterpret_cast<const sockaddr_in6&>(one).sin6_addr, address.size());
    return address;
  }
  address[10] = address[11] = 0xff;
  std::memcpy(address.data() + 12, &reinterpret_cast<const sockaddr_in&>(one).sin_addr, 4);
  return address;
}

/// Addresses of a link alone need the number of an interface, which differs between hosts.
bool is_usable(const ifaddrs& one) {
  if (one.ifa_addr == nullptr || one.ifa_netmask == nullptr || (one.ifa_flags & IFF_UP) == 0) return false;
  if ((one.ifa_flags & IFF_LOOPBACK) != 0) return false;
  if (one.ifa_addr->sa_family == AF_INET) return true;
  return one.ifa_addr->sa_family == AF_INET6 &&
         !IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(one.ifa_addr)->sin6_addr);
}

Interface interface_of(const ifaddrs& one) {
  const Address address = address_of(*one.ifa_addr);
  const Address mask = address_of(*one.ifa_netmask);
  Hash network;
  network.add(is_v4(address));
  for (std::size_t i = 0; i < address.size(); ++i) network.add(address[i] & mask[i]).add(mask[i]);
  return {address, network.value()};
}

/// Equal in one network namespace alone.
std::uint64_t own_namespace(std::uint64_t machine) {
  struct stat facts {};
  if (machine == 0 || ::stat("/proc/self/ns/net", &facts) != 0) return random_word();
  return Hash().add(machine).add(facts.st_ino).value();
}

std::span<const Interface> others_of(const Interfaces& one) { return {one.others.data(), one.count}; }

bool is_in(const Interfaces& one, std::uint64_t network) {
  const auto others = others_of(one);
  return std::any_of(others.begin(), others.end(), [&](const Interface& other) { return other.network == network; });
}

bool all_are_in(std::span<const Interfaces> group, std::uint64_t network) {
  return std::all_of(group.begin(), group.end(), [&](const Interfaces& one) { return is_in(one, network); });
}

bool share_a_namespace(std::span<const Interfaces> group) {
  return std::all_of(group.begin(), group.end(),
                     [&](const Interfaces& one) { return one.loopback.network == group[0].loopback.network; });
}

bool leads_nowhere(std::span<const Interfaces> group, std::uint64_t network) {
  std::map<Address, std::uint64_t> hosts;
  for (const Interfaces& one : group)
    for (const Interface& other : others_of(one))
      if (other.network == network &&
          hosts.try_emplace(other.address, one.loopback.network).first->second != one.loopback.network)
        return true;
  return false;
}

}  // namespace

bool is_v4(const Address& address) {
  return address[10] == 0xff && address[11] == 0xff &&
         std::all_of(address.begin(), address.begin() + 10, [](std::uint8_t byte) { return byte == 0; });
}

Interfaces own_interfaces(std::uint64_t machine) {
  Interfaces own{};
  own.loopback = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1}, own_namespace(machine)};
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return own;
  for (const ifaddrs* one = all; one != nullptr && own.count < Interfaces::most; one = one->ifa_next)
    if (is_usable(*one)) own.others[own.count++] = interface_of(*one);
  freeifaddrs(all);
  return own;
}

std::vector<Address> addresses_for(std::span<const Interfaces> group, std::size_t own) {
  if (share_a_namespace(group)) return {group[own].loopback.address};
  std::vector<Address> common;
  std::vector<Address> all;
  for (const Interface& one : others_of(group[own])) {
    if (leads_nowhere(group, one.network)) continue;
    all.push_back(one.address);
    if (all_are_in(group, one.network)) common.push_back(one.address);
  }
  return common.empty() ? all : common;
}

}  // namespace tutti::detail::outofband
