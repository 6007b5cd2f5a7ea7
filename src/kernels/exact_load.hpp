// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "kernels/exact_terms.hpp"

/// Elements of any type and layout as float64, which holds them all, a run at a time.
namespace tutti::kernels::exact {

inline constexpr std::size_t run = 1024;

/// Memory for a run.
struct Room {
  static constexpr std::size_t most_bytes = 16;
  alignas(64) std::byte packed[run * most_bytes];
  alignas(64) double numbers[run];
};

/// The elements [first, first + count) of an operand, contiguous: in their own memory where they are.
[[nodiscard]] const std::byte* elements_of(const Operand& operand, std::size_t first, std::size_t count,
                                           Room& room) noexcept;
/// The same as float64.
[[nodiscard]] const double* load(const Operand& operand, std::size_t first, std::size_t count, Room& room) noexcept;

/// Moves the numbers whose mask, of elements of `unit` bytes, is not zero together. Returns how many there are.
[[nodiscard]] std::size_t select(const std::byte* mask, std::size_t unit, const double* numbers, std::size_t count,
                                 double* to) noexcept;

}  // namespace tutti::kernels::exact
