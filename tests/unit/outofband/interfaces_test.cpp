// SPDX-License-Identifier: BSD-3-Clause
#include "outofband/interfaces.hpp"

#include <gtest/gtest.h>

#include "outofband/card.hpp"

namespace tutti::detail::outofband {
namespace {

Address v4(int network, int host) {
  const auto byte = [](int number) { return static_cast<std::uint8_t>(number); };
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, byte(network), 0, byte(host)};
}

/// A process on a host with an address in each of those networks.
Interfaces process(int host, std::initializer_list<int> networks) {
  Interfaces one{};
  one.loopback = {v4(127, 1), 1000 + static_cast<std::uint64_t>(host)};
  for (const int network : networks) one.others[one.count++] = {v4(network, host), static_cast<std::uint64_t>(network)};
  return one;
}

using Processes = std::vector<Interfaces>;
using Addresses = std::vector<Address>;

TEST(Interfaces, OfOneNetworkNamespaceAreTheLoopback) {
  EXPECT_EQ(addresses_for(Processes{process(1, {1, 2}), process(1, {1, 2})}, 1), Addresses{v4(127, 1)});
}

TEST(Interfaces, OfNetworksThatAllAreInAloneAreUsed) {
  const Processes group = {process(1, {1, 2, 3}), process(2, {4, 2, 3}), process(2, {4, 2, 3}), process(3, {3, 5, 2})};
  EXPECT_EQ(addresses_for(group, 0), (Addresses{v4(2, 1), v4(3, 1)}));
  EXPECT_EQ(addresses_for(group, 3), (Addresses{v4(3, 3), v4(2, 3)}));
}

TEST(Interfaces, OfHostsThatRoutersConnectAreUsedAll) {
  const Processes group = {process(1, {1, 4}), process(2, {2, 4}), process(3, {3})};
  EXPECT_EQ(addresses_for(group, 0), (Addresses{v4(1, 1), v4(4, 1)}));
  EXPECT_EQ(addresses_for(group, 2), Addresses{v4(3, 3)});
}

TEST(Interfaces, OfABridgeThatEachHostHasLeadNowhere) {
  Processes group = {process(1, {1, 9}), process(2, {2, 9})};
  for (Interfaces& one : group) one.others[1].address = v4(9, 1);
  EXPECT_EQ(addresses_for(group, 0), Addresses{v4(1, 1)});
  EXPECT_EQ(addresses_for(group, 1), Addresses{v4(2, 2)});
  // Two processes of one host have one address, too.
  group = {process(1, {1}), process(1, {1}), process(2, {1})};
  EXPECT_EQ(addresses_for(group, 0), Addresses{v4(1, 1)});
}

TEST(Interfaces, OfThisHost) {
  const Interfaces one = own_interfaces(77);
  EXPECT_EQ(text(one.loopback.address), "127.0.0.1");
  EXPECT_EQ(own_interfaces(77).loopback.network, one.loopback.network);
  EXPECT_NE(own_interfaces(78).loopback.network, one.loopback.network) << "another machine";
  EXPECT_NE(own_interfaces(0).loopback.network, own_interfaces(0).loopback.network) << "unknown";
  ASSERT_LE(one.count, Interfaces::most);
  for (std::size_t i = 0; i < one.count; ++i) {
    EXPECT_NE(text(one.others[i].address).substr(0, 4), "127.");
    EXPECT_NE(one.others[i].network, 0U);
  }
}

TEST(Interfaces, HaveAddressesAsPeopleWriteThem) {
  EXPECT_EQ(text(SocketAddress{v4(1, 2), 80}), "10.1.0.2 port 80");
  EXPECT_EQ(text(Address{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}), "2001:db8::1");
  EXPECT_EQ(text(Card{}), "no address");
}

}  // namespace
}  // namespace tutti::detail::outofband
