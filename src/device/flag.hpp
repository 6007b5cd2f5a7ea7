// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "device/pool.hpp"

namespace tutti::detail::device {

/// A gate on a stream that the host opens: a word of pinned memory that the stream waits for, never a host function
/// that blocks. The destructor opens the gate, and keeps the word until the stream has passed.
class Flag {
 public:
  Flag() noexcept = default;
  ~Flag();
  Flag(Flag&& other) noexcept;
  Flag& operator=(Flag&& other) noexcept;
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;
  /// Makes later work on the stream wait for open().
  void close(int device, StreamHandle stream);
  void open() noexcept;
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }
  /// The number of closed flags in this process.
  [[nodiscard]] static std::size_t closed_count() noexcept;

 private:
  void retire() noexcept;

  Block word_{};
  Event passed_{};
  bool is_closed_ = false;
};

}  // namespace tutti::detail::device
