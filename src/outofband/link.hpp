// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "outofband/socket.hpp"

namespace tutti::detail::outofband {

enum class Kind : std::uint32_t {
  hello,    ///< Hello: the first frame of who has connected
  welcome,  ///< the answer to it, from the process that was meant
  beat,     ///< nothing but a sign of life
  ended,    ///< the number of a process that has ended
  notice,   ///< Notice
  left,     ///< the sender ends MPI, and with it the connection
  ask,      ///< a question in words
  answer,   ///< the answer to it
};

struct Hello {
  std::uint64_t token;  ///< known to processes that have met
  std::uint64_t from;
  std::uint64_t to;
};

/// A word that a process says to all, once.
struct Notice {
  std::uint64_t key;    ///< of the question
  std::uint64_t place;  ///< of the process in its group
  std::uint64_t word;
};

struct Frame {
  Kind kind{};
  std::vector<std::byte> body{};
  /// Its body as a plain value; zeroes where it is too short.
  template <typename T>
  [[nodiscard]] T as() const noexcept;
};

/// Frames over a socket. Nothing blocks: what cannot be sent now waits here.
class Link {
 public:
  explicit Link(Socket&& socket) noexcept : socket_(std::move(socket)) {}

  void send(Kind kind, std::span<const std::byte> body = {});
  template <typename T>
  void send(Kind kind, const T& value) {
    send(kind, std::as_bytes(std::span(&value, 1)));
  }
  /// Both return false once the connection is lost.
  [[nodiscard]] bool flush() noexcept;
  [[nodiscard]] bool receive(std::vector<Frame>& frames);

  [[nodiscard]] bool has_unsent() const noexcept { return sent_ < out_.size(); }
  [[nodiscard]] int descriptor() const noexcept { return socket_.descriptor(); }
  /// Why the connection is lost: errno, 0 if the other side has closed it.
  [[nodiscard]] int error() const noexcept { return error_; }
  /// The longest body that it takes.
  void expect(std::uint32_t bytes) noexcept { most_ = bytes; }

  static constexpr std::uint32_t most_bytes_of_strangers = sizeof(Hello);
  static constexpr std::uint32_t most_bytes = 256U << 20U;

 private:
  struct Head {
    Kind kind;
    std::uint32_t bytes;
  };
  [[nodiscard]] bool take_frames(std::vector<Frame>& frames);

  Socket socket_;
  std::vector<std::byte> out_{};
  std::size_t sent_ = 0;
  std::vector<std::byte> in_{};
  std::uint32_t most_ = most_bytes_of_strangers;
  int error_ = 0;
};

template <typename T>
T Frame::as() const noexcept {
  T value{};
  if (body.size() >= sizeof value) std::copy_n(body.data(), sizeof value, reinterpret_cast<std::byte*>(&value));
  return value;
}

[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace tutti::detail::outofband
