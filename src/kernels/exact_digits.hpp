// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <tutti/detail/fixed_point.hpp>

/// The arithmetic of detail::FixedPoint.
namespace tutti::kernels::exact {

using detail::FixedPoint;

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

/// A digit holds so many additions and the digit itself without an overflow.
inline constexpr std::uint32_t most_waiting = 1U << 30;

/// Passes the carries on: all digits but the highest are in [0, 2^32) afterwards, and the highest has the sign.
void carry(FixedPoint& number) noexcept;

/// Adds value * 2^exponent, for FixedPoint::lowest <= exponent <= 2144.
inline void add(FixedPoint& number, std::int64_t value, int exponent) noexcept {
  const auto position = static_cast<unsigned>(exponent - FixedPoint::lowest);
  const auto place = static_cast<std::int32_t>(position / FixedPoint::digit_bits);
  const Wide shifted = static_cast<Wide>(value) * (Wide{1} << (position % FixedPoint::digit_bits));
  std::int64_t* digit = number.digits.data() + place;
  digit[0] += static_cast<std::uint32_t>(shifted);
  digit[1] += static_cast<std::uint32_t>(shifted >> 32);
  digit[2] += static_cast<std::int64_t>(shifted >> 64);
  number.low = std::min(number.low, place);
  number.high = std::max(number.high, place + 2);
  if (++number.waiting >= most_waiting) carry(number);
}

/// Changes the sign. Passes the carries on.
void negate(FixedPoint& number) noexcept;
/// Whether a number whose carries have been passed on is below zero.
[[nodiscard]] inline bool is_negative(const FixedPoint& number) noexcept {
  return number.high >= number.low && number.digits[static_cast<std::size_t>(number.high)] < 0;
}

/// Adds another number, whose carries it passes on.
void add(FixedPoint& number, FixedPoint& other) noexcept;

/// Adds a number or a product of two; what is not finite is noted.
void add(FixedPoint& number, double value) noexcept;
void add_product(FixedPoint& number, double x, double y) noexcept;

/// Returns true if the finite addends cancel. The carries have been passed on.
[[nodiscard]] bool is_zero(const FixedPoint& number) noexcept;

/// Bits [position, position + 64) of a number that is not negative, positions counted from 2^lowest. The carries have
/// been passed on.
[[nodiscard]] std::uint64_t bits_at(const FixedPoint& number, int position) noexcept;

}  // namespace tutti::kernels::exact
