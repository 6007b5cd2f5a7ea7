// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/hash.hpp"

namespace tutti::detail {

/// Memory that a nonblocking call in check mode writes in place of the caller's receive buffer, which it gets when the
/// call is complete. Until then nobody but the program can have changed the receive buffer.
class ReceiveShadow {
 public:
  /// The longest memory that has a shadow, from its first byte to its last; if all bytes are compared, or four times
  /// its data: what lies between parts takes memory too.
  static constexpr std::size_t most_bytes = 16384;

  /// Makes the shadow of one buffer's parts. Null if there are no parts, or they are too far apart.
  [[nodiscard]] static std::unique_ptr<ReceiveShadow> of(const std::vector<Bytes>& parts, bool all_bytes);
  ReceiveShadow(std::vector<Bytes> parts, Bytes extent);
  ~ReceiveShadow() = default;
  ReceiveShadow(const ReceiveShadow&) = delete;
  ReceiveShadow& operator=(const ReceiveShadow&) = delete;

  /// The place in the shadow of an address of the buffer, which may lie before its first part.
  [[nodiscard]] void* place_of(void* address) const;
  /// At the start of the call.
  void begin();
  /// At its end: fills the buffer.
  void end();
  /// Returns true if the program has changed the buffer since the start.
  [[nodiscard]] bool is_changed() const;
  /// For a call that is given up: memory that other ranks may still write.
  [[nodiscard]] std::shared_ptr<void> memory() const { return memory_; }

 private:
  [[nodiscard]] std::uint64_t digest() const;

  std::vector<Bytes> parts_;
  Bytes extent_;
  std::shared_ptr<std::vector<std::byte>> memory_;
  std::uint64_t digest_ = 0;
  bool was_changed_ = false;
};

}  // namespace tutti::detail
