// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "outofband/frame.hpp"
#include "outofband/socket.hpp"

namespace tutti::detail::outofband {

/// Frames over a socket. Nothing blocks: what cannot be sent now waits here.
class Link {
 public:
  explicit Link(Socket&& socket) noexcept : socket_(std::move(socket)) {}

  void send(Kind kind, std::span<const std::byte> body = {});
  template <typename T>
  void send(Kind kind, const T& value) {
    send(kind, std::as_bytes(std::span(&value, 1)));
  }
  void send(const Frame& frame) { send(frame.kind, std::span(frame.body)); }
  /// Both return false once the connection is lost.
  [[nodiscard]] bool flush() noexcept;
  /// Takes at most some of what is there, so that nobody keeps this process here.
  [[nodiscard]] bool receive(std::vector<Frame>& frames);

  [[nodiscard]] bool has_unsent() const noexcept { return sent_ < out_.size(); }
  [[nodiscard]] int descriptor() const noexcept { return socket_.descriptor(); }
  /// Why the connection is lost: errno, 0 if the other side has closed it.
  [[nodiscard]] int error() const noexcept { return error_; }
  /// From now on takes frames of any length that is used; before, those of strangers alone.
  void trust() noexcept { reader_.expect(FrameReader::most_bytes); }

 private:
  Socket socket_;
  std::vector<std::byte> out_{};
  std::size_t sent_ = 0;
  FrameReader reader_{};
  int error_ = 0;
};

}  // namespace tutti::detail::outofband
