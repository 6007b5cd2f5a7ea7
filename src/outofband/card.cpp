// SPDX-License-Identifier: BSD-3-Clause
#include "outofband/card.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <vector>

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
bool is_usable(const ifaddrs& one, bool loopback) {
  if (one.ifa_addr == nullptr || (one.ifa_flags & IFF_UP) == 0) return false;
  if (((one.ifa_flags & IFF_LOOPBACK) != 0) != loopback) return false;
  if (one.ifa_addr->sa_family == AF_INET) return true;
  return one.ifa_addr->sa_family == AF_INET6 &&
         !IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(one.ifa_addr)->sin6_addr);
}

void add(Card& card, const ifaddrs* all, bool loopback) {
  for (const ifaddrs* one = all; one != nullptr && card.count < Card::most_addresses; one = one->ifa_next)
    if (is_usable(*one, loopback)) card.addresses[card.count++] = address_of(*one->ifa_addr);
}

}  // namespace

void write_own_addresses(Card& card) {
  card.count = 0;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return;
  add(card, all, false);
  if (card.count == 0) add(card, all, true);
  freeifaddrs(all);
}

std::string text(const Address& address) {
  in6_addr number{};
  std::memcpy(&number, address.data(), address.size());
  char written[INET6_ADDRSTRLEN] = "?";
  if (IN6_IS_ADDR_V4MAPPED(&number))
    inet_ntop(AF_INET, address.data() + 12, written, sizeof written);
  else
    inet_ntop(AF_INET6, &number, written, sizeof written);
  return written;
}

}  // namespace tutti::detail::outofband
