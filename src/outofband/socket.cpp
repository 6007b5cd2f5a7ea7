// SPDX-License-Identifier: BSD-3-Clause
#include "outofband/socket.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tutti::detail::outofband {
namespace {

constexpr int kind = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

sockaddr_in6 any_v6() {
  sockaddr_in6 name{};
  name.sin6_family = AF_INET6;
  name.sin6_addr = in6addr_any;
  return name;
}

sockaddr_in any_v4() {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_ANY);
  return name;
}

bool is_v4(const Address& address) {
  return address[10] == 0xff && address[11] == 0xff &&
         std::all_of(address.begin(), address.begin() + 10, [](std::uint8_t byte) { return byte == 0; });
}

template <typename Name>
bool bind_and_listen(int file, const Name& name) {
  constexpr int waiting = 128;
  return ::bind(file, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 && ::listen(file, waiting) == 0;
}

template <typename Name>
bool begin_connect(int file, const Name& name) {
  return ::connect(file, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 || errno == EINPROGRESS;
}

/// Both have the port at one place.
std::uint16_t port_of(int file) {
  sockaddr_in6 name{};
  socklen_t length = sizeof name;
  return getsockname(file, reinterpret_cast<sockaddr*>(&name), &length) == 0 ? ntohs(name.sin6_port) : std::uint16_t{0};
}

void send_at_once(int file) {
  const int yes = 1;
  (void)setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

std::ptrdiff_t result_of(std::ptrdiff_t moved) {
  if (moved >= 0) return moved;
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ENOTCONN ? 0 : -1;
}

}  // namespace

Socket Socket::listen(std::uint16_t& port, std::string& problem) {
  Socket made(::socket(AF_INET6, kind, 0));
  const int no = 0;
  if (made.valid()) (void)setsockopt(made.file_, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  if (!made.valid() || !bind_and_listen(made.file_, any_v6())) {  // a host without IPv6
    made = Socket(::socket(AF_INET, kind, 0));
    if (!made.valid() || !bind_and_listen(made.file_, any_v4())) {
      problem = fmt::format("no TCP port can be opened: {}", std::strerror(errno));
      made.close();
      return made;
    }
  }
  port = port_of(made.file_);
  return made;
}

Socket Socket::connect(const Address& address, std::uint16_t port) {
  const bool v4 = is_v4(address);
  Socket made(::socket(v4 ? AF_INET : AF_INET6, kind, 0));
  if (!made.valid()) return made;
  send_at_once(made.file_);
  bool begun = false;
  if (v4) {
    sockaddr_in name = any_v4();
    name.sin_port = htons(port);
    std::memcpy(&name.sin_addr, address.data() + 12, 4);
    begun = begin_connect(made.file_, name);
  } else {
    sockaddr_in6 name = any_v6();
    name.sin6_port = htons(port);
    std::memcpy(&name.sin6_addr, address.data(), address.size());
    begun = begin_connect(made.file_, name);
  }
  if (!begun) made.close();
  return made;
}

Socket Socket::accept() const {
  Socket made(::accept4(file_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (made.valid()) send_at_once(made.file_);
  return made;
}

bool Socket::lacks_room() noexcept { return errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM; }

void Socket::close() noexcept {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

std::ptrdiff_t Socket::send(std::span<const std::byte> data) const noexcept {
  return result_of(::send(file_, data.data(), data.size(), MSG_NOSIGNAL));
}

std::ptrdiff_t Socket::receive(std::span<std::byte> data) const noexcept {
  const std::ptrdiff_t moved = ::recv(file_, data.data(), data.size(), 0);
  if (moved == 0) errno = 0;
  return moved == 0 ? -1 : result_of(moved);
}

}  // namespace tutti::detail::outofband
