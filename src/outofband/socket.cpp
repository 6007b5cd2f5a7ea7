// SPDX-License-Identifier: BSD-3-Clause
#include "outofband/socket.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tutti::detail::outofband {
namespace {

constexpr int kind = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

/// The name of a socket as the kernel takes it.
struct Name {
  sockaddr_storage storage{};
  socklen_t bytes = 0;
  explicit Name(const SocketAddress& of) {
    const auto port = htons(static_cast<std::uint16_t>(of.port));
    if (is_v4(of.address)) {
      sockaddr_in v4{.sin_family = AF_INET, .sin_port = port, .sin_addr = {}, .sin_zero = {}};
      std::memcpy(&v4.sin_addr, of.address.data() + 12, sizeof v4.sin_addr);
      take(v4);
    } else {
      sockaddr_in6 v6{};
      v6.sin6_family = AF_INET6;
      v6.sin6_port = port;
      std::memcpy(&v6.sin6_addr, of.address.data(), sizeof v6.sin6_addr);
      take(v6);
    }
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }

 private:
  template <typename T>
  void take(const T& name) {
    std::memcpy(&storage, &name, sizeof name);
    bytes = sizeof name;
  }
};

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

Socket Socket::listen(const Address& address, SocketAddress& at, std::string& problem) {
  constexpr int waiting = 128;
  const Name name({address, 0});
  Socket made(::socket(name.storage.ss_family, kind, 0));
  if (!made.valid() || ::bind(made.file_, name.get(), name.bytes) != 0 || ::listen(made.file_, waiting) != 0) {
    problem = fmt::format("no TCP port can be opened at {}: {}", text(address), std::strerror(errno));
    made.close();
    return made;
  }
  at = {address, port_of(made.file_)};
  return made;
}

Socket Socket::connect(const SocketAddress& to) {
  const Name name(to);
  Socket made(::socket(name.storage.ss_family, kind, 0));
  if (!made.valid()) return made;
  send_at_once(made.file_);
  if (::connect(made.file_, name.get(), name.bytes) != 0 && errno != EINPROGRESS) made.close();
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
