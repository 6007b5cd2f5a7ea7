// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "outofband/card.hpp"
#include "outofband/handshake.hpp"
#include "outofband/link.hpp"

namespace tutti::detail::outofband {

using Clock = std::chrono::steady_clock;

/// Another process whose end this one watches for, over a connection that this one makes. It has ended when its host
/// refuses a new connection after the old one broke, or when it has given no sign of life for too long.
class Neighbor {
 public:
  enum class State : std::uint8_t { connecting, up, lost, ended, left };

  Neighbor(const Card& card, const Acquaintance& acquaintance, Clock::duration limit, Clock::time_point now);

  /// Moves what can be moved. heard: takes what the other one says.
  void step(Clock::time_point now, std::vector<Frame>& heard);
  template <typename T>
  void tell(Kind kind, const T& value) {
    if (link_ && is_welcome()) link_->send(kind, value);
  }

  [[nodiscard]] State state() const noexcept { return state_; }
  /// Returns true once after each time that a connection was made.
  [[nodiscard]] bool is_new() noexcept { return std::exchange(is_new_, false); }
  [[nodiscard]] bool is_over() const noexcept { return state_ == State::ended || state_ == State::left; }
  [[nodiscard]] std::uint64_t process() const noexcept { return card_.process; }
  [[nodiscard]] const Link* link() const noexcept { return link_ ? &*link_ : nullptr; }
  /// "10.0.0.2 port 4711".
  [[nodiscard]] std::string where() const;

 private:
  static constexpr std::chrono::milliseconds pause{20};       ///< between two attempts to connect
  static constexpr std::chrono::milliseconds patience{1000};  ///< with one attempt

  [[nodiscard]] bool is_welcome() const noexcept { return handshake_ && handshake_->is_welcome(); }
  void connect(Clock::time_point now);
  [[nodiscard]] bool take(std::span<Frame> frames, Clock::time_point now, std::vector<Frame>& heard);
  [[nodiscard]] bool shake_hands(const Frame& frame);
  void lose(Clock::time_point now);

  Card card_;
  Acquaintance acquaintance_;
  Clock::duration limit_;
  State state_ = State::connecting;
  std::optional<Link> link_{};
  std::optional<ClientHandshake> handshake_{};
  bool is_new_ = false;
  std::size_t address_ = 0;  ///< once it was up, the one that is right
  Clock::time_point heard_;
  Clock::time_point tried_{};
};

}  // namespace tutti::detail::outofband
