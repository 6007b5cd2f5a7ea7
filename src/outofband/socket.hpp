// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "outofband/card.hpp"

namespace tutti::detail::outofband {

/// A TCP socket that never blocks, and that programs which this process starts do not inherit.
class Socket {
 public:
  Socket() = default;
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  /// Listens at one address of this host, at a port that the kernel chooses. Invalid, with the problem in words, if
  /// that is refused.
  [[nodiscard]] static Socket listen(const Address& address, SocketAddress& at, std::string& problem);
  /// Begins to connect; the socket becomes writable when that is over. Invalid if it fails at once.
  [[nodiscard]] static Socket connect(const SocketAddress& to);
  /// The next who has connected; invalid if there is none.
  [[nodiscard]] Socket accept() const;

  /// Returns true if one of these has just failed because this process or this host has no room for another socket.
  [[nodiscard]] static bool lacks_room() noexcept;

  [[nodiscard]] bool valid() const noexcept { return file_ >= 0; }
  [[nodiscard]] int descriptor() const noexcept { return file_; }
  void close() noexcept;

  /// Both return the number of bytes, 0 if none can be moved now, or -1 if the connection is lost.
  [[nodiscard]] std::ptrdiff_t send(std::span<const std::byte> data) const noexcept;
  [[nodiscard]] std::ptrdiff_t receive(std::span<std::byte> data) const noexcept;

 private:
  explicit Socket(int file) noexcept : file_(file) {}
  int file_ = -1;
};

}  // namespace tutti::detail::outofband
