// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tutti::miniapps {

/// The numbers of std::mt19937, made a block at a time by loops that compilers vectorize. Local; copying copies the
/// state. Source: Matsumoto and Nishimura, Mersenne Twister, 1998.
class MersenneTwister {
 public:
  explicit MersenneTwister(std::uint32_t value) { seed(value); }

  void seed(std::uint32_t value);
  [[nodiscard]] std::uint32_t next() {
    if (next_ == block) {
      refill();
    }
    return outputs_[next_++];
  }
  /// Some of the outputs that come next, at least one and at most `most`, which must be above 0; valid until the next
  /// call.
  [[nodiscard]] std::span<const std::uint32_t> take(std::size_t most);
  /// As `count` calls of next().
  void discard(std::uint64_t count);

 private:
  static constexpr std::size_t block = 624;

  void advance();
  void temper();
  void refill();

  std::array<std::uint32_t, block> state_{};
  std::array<std::uint32_t, block> outputs_{};  ///< of the state; undefined where next_ is `block`
  std::size_t next_ = block;
};

}  // namespace tutti::miniapps
