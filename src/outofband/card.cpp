// SPDX-License-Identifier: BSD-3-Clause
#include "outofband/card.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

namespace tutti::detail::outofband {

std::string text(const Address& address) {
  char written[INET6_ADDRSTRLEN] = "?";
  if (is_v4(address))
    inet_ntop(AF_INET, address.data() + 12, written, sizeof written);
  else
    inet_ntop(AF_INET6, address.data(), written, sizeof written);
  return written;
}

std::string text(const SocketAddress& one) { return fmt::format("{} port {}", text(one.address), one.port); }

std::string text(const Card& card) { return card.count == 0 ? "no address" : text(card.addresses[0]); }

}  // namespace tutti::detail::outofband
