// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <random>

namespace tutti::detail {

/// 64 bits that nobody guesses.
[[nodiscard]] inline std::uint64_t random_word() {
  std::random_device device;
  return std::uint64_t{device()} << 32U | device();
}

}  // namespace tutti::detail
