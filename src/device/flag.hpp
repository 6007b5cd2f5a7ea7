// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/pool.hpp"

namespace tutti::detail::device {

/// A gate on streams that the host opens, at once or step by step: a word of pinned memory that streams wait for, never
/// a host function that blocks. The destructor opens the gate, and keeps the word until the streams have passed.
///
/// CUDA does not know what the host does before it opens the gate: work that streams get later may share their queue in
/// the hardware and wait behind the gate. What the host waits for must be on its streams before a stream waits here.
class Flag {
 public:
  Flag() noexcept = default;
  ~Flag();
  Flag(Flag&& other) noexcept;
  Flag& operator=(Flag&& other) noexcept;
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;
  /// Takes a word, which no stream waits for yet.
  void close(int device);
  /// Makes later work on the stream wait for raise(height) or open(); height >= 1. After close().
  void hold(StreamHandle stream, std::uint32_t height);
  /// Lets streams pass that wait for this height or less. Never lowers.
  void raise(std::uint32_t height) noexcept;
  /// Lets all pass.
  void open() noexcept;
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }
  /// The number of closed flags in this process.
  [[nodiscard]] static std::size_t closed_count() noexcept;

 private:
  void retire() noexcept;

  /// The last wait of a stream.
  struct Passed {
    StreamHandle stream = nullptr;
    Event event{};
  };

  int device_ = 0;
  Block word_{};
  std::vector<Passed> passed_{};
  bool is_closed_ = false;
};

}  // namespace tutti::detail::device
