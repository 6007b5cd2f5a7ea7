// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tutti::detail::outofband {

enum class Kind : std::uint32_t {
  hello,      ///< Hello: the first frame of who has connected
  challenge,  ///< Challenge: the answer to it
  proof,      ///< Proof: the answer to that
  welcome,    ///< the answer to a proof; frames of the other kinds come after it
  beat,       ///< nothing but a sign of life
  ended,      ///< the number of a process that has ended
  notice,     ///< Notice
  left,       ///< the sender ends MPI, and with it the connection
  ask,        ///< a question in words
  answer,     ///< the answer to it
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

  template <typename T>
  [[nodiscard]] static Frame of(Kind kind, const T& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    return {kind, {bytes.begin(), bytes.end()}};
  }
  /// Its body as a plain value; nothing if it is of another kind or has another length.
  template <typename T>
  [[nodiscard]] std::optional<T> as(Kind wanted) const noexcept {
    if (kind != wanted || body.size() != sizeof(T)) return std::nullopt;
    T value{};
    std::copy_n(body.data(), sizeof value, reinterpret_cast<std::byte*>(&value));
    return value;
  }
};

struct FrameHead {
  Kind kind;
  std::uint32_t bytes;
};

/// Makes frames of bytes that arrive in pieces.
class FrameReader {
 public:
  /// The longest body that it takes.
  void expect(std::uint32_t bytes) noexcept { most_ = bytes; }
  /// Returns false at a frame that is longer.
  [[nodiscard]] bool read(std::span<const std::byte> some, std::vector<Frame>& frames);

  static constexpr std::uint32_t most_bytes_of_strangers = 64;
  static constexpr std::uint32_t most_bytes = 256U << 20U;

 private:
  std::vector<std::byte> kept_{};
  std::uint32_t most_ = most_bytes_of_strangers;
};

[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace tutti::detail::outofband
