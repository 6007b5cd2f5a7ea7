// SPDX-License-Identifier: BSD-3-Clause
#include "mersenne_twister.hpp"

#include <algorithm>

namespace tutti::miniapps {

namespace {

constexpr std::size_t middle = 397;

constexpr std::uint32_t twisted(std::uint32_t upper, std::uint32_t lower, std::uint32_t far) {
  const std::uint32_t joined = (upper & 0x80000000U) | (lower & 0x7FFFFFFFU);
  return far ^ (joined >> 1U) ^ ((0U - (lower & 1U)) & 0x9908B0DFU);
}

}  // namespace

void MersenneTwister::seed(std::uint32_t value) {
  state_[0] = value;
  for (std::uint32_t i = 1; i < block; ++i) {
    state_[i] = 1812433253U * (state_[i - 1] ^ (state_[i - 1] >> 30U)) + i;
  }
  next_ = block;
}

/// A word depends on one that is 227 before it, more than any vector is long.
void MersenneTwister::advance() {
  std::uint32_t* s = state_.data();
  for (std::size_t i = 0; i < block - middle; ++i) {
    s[i] = twisted(s[i], s[i + 1], s[i + middle]);
  }
  for (std::size_t i = block - middle; i < block - 1; ++i) {
    s[i] = twisted(s[i], s[i + 1], s[i - (block - middle)]);
  }
  s[block - 1] = twisted(s[block - 1], s[0], s[middle - 1]);
}

void MersenneTwister::temper() {
  std::transform(state_.begin(), state_.end(), outputs_.begin(), [](std::uint32_t y) {
    y ^= y >> 11U;
    y ^= (y << 7U) & 0x9D2C5680U;
    y ^= (y << 15U) & 0xEFC60000U;
    return y ^ (y >> 18U);
  });
}

void MersenneTwister::refill() {
  advance();
  temper();
  next_ = 0;
}

std::span<const std::uint32_t> MersenneTwister::take(std::size_t most) {
  if (next_ == block) {
    refill();
  }
  const std::size_t count = std::min(most, block - next_);
  next_ += count;
  return std::span(outputs_).subspan(next_ - count, count);
}

void MersenneTwister::discard(std::uint64_t count) {
  if (count <= block - next_) {
    next_ += static_cast<std::size_t>(count);
    return;
  }
  count -= block - next_;
  for (; count > block; count -= block) {
    advance();
  }
  refill();
  next_ = static_cast<std::size_t>(count);
}

}  // namespace tutti::miniapps
