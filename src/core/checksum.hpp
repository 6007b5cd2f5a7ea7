// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "core/hash.hpp"

namespace tutti::detail {

/// CRC-64 as in the format XZ (the polynomial of ECMA-182). Unlike hash_bytes() it is the same however the bytes are
/// cut, tells all changes within 64 neighbouring bits for certain, and that of two parts follows from theirs.
class Checksum {
 public:
  /// At the rate of memory where the processor multiplies without carries, else about a byte a cycle.
  void add(Bytes bytes) noexcept;
  [[nodiscard]] std::uint64_t value() const noexcept { return ~state_; }

 private:
  std::uint64_t state_ = ~std::uint64_t{0};
};

/// The checksum of some bytes and then others, from those of both.
[[nodiscard]] std::uint64_t joined(std::uint64_t first, std::uint64_t second, std::uint64_t bytes_of_second) noexcept;

}  // namespace tutti::detail
