// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/exact_digits.hpp"

#include <cmath>
#include <cstring>

namespace tutti::kernels::exact {
namespace {

constexpr int fraction_bits = 52;
constexpr int least_exponent = -1074;

/// |x| = fraction * 2^exponent.
struct Parts {
  std::uint64_t fraction;
  int exponent;
  bool is_negative;
};

Parts parts_of(double x) noexcept {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  const auto field = static_cast<int>((bits >> fraction_bits) & 0x7ffU);
  const std::uint64_t hidden = field > 0 ? std::uint64_t{1} << fraction_bits : 0;
  return {(bits & ((std::uint64_t{1} << fraction_bits) - 1)) | hidden, std::max(field, 1) - 1 + least_exponent,
          (bits >> 63) != 0};
}

std::uint32_t seen_of(double x) noexcept {
  if (std::isnan(x)) return FixedPoint::nan;
  if (std::isinf(x)) return std::signbit(x) ? FixedPoint::minus_infinity : FixedPoint::infinity;
  return x == 0 && std::signbit(x) ? FixedPoint::minus_zero : FixedPoint::other_number;
}

void add_signed(FixedPoint& number, std::uint64_t magnitude, int exponent, bool is_negative) noexcept {
  const auto value = static_cast<std::int64_t>(magnitude);
  add(number, is_negative ? -value : value, exponent);
}

}  // namespace

void carry(FixedPoint& number) noexcept {
  constexpr std::int64_t base = std::int64_t{1} << FixedPoint::digit_bits;
  number.waiting = 0;
  for (std::int32_t i = number.low; i < FixedPoint::digit_count - 1; ++i) {
    std::int64_t& digit = number.digits[static_cast<std::size_t>(i)];
    if (i >= number.high && digit >= -base / 2 && digit < base / 2) break;
    const std::int64_t over = digit >> FixedPoint::digit_bits;
    digit -= over * base;
    number.digits[static_cast<std::size_t>(i) + 1] += over;
    number.high = std::max(number.high, i + 1);
  }
}

void negate(FixedPoint& number) noexcept {
  for (std::int32_t i = number.low; i <= number.high; ++i)
    number.digits[static_cast<std::size_t>(i)] = -number.digits[static_cast<std::size_t>(i)];
  carry(number);
}

void add(FixedPoint& number, FixedPoint& other) noexcept {
  carry(other);
  for (std::int32_t i = other.low; i <= other.high; ++i)
    number.digits[static_cast<std::size_t>(i)] += other.digits[static_cast<std::size_t>(i)];
  number.low = std::min(number.low, other.low);
  number.high = std::max(number.high, other.high);
  number.seen |= other.seen;
  if (++number.waiting >= most_waiting) carry(number);
}

void add(FixedPoint& number, double value) noexcept {
  number.seen |= seen_of(value);
  if (!std::isfinite(value)) return;
  const Parts parts = parts_of(value);
  if (parts.fraction != 0) add_signed(number, parts.fraction, parts.exponent, parts.is_negative);
}

void add_product(FixedPoint& number, double x, double y) noexcept {
  const Parts a = parts_of(x);
  const Parts b = parts_of(y);
  if (!std::isfinite(x) || !std::isfinite(y) || a.fraction == 0 || b.fraction == 0) return add(number, x * y);
  const UnsignedWide product = static_cast<UnsignedWide>(a.fraction) * b.fraction;
  constexpr int half = fraction_bits + 1;
  constexpr std::uint64_t low_half = (std::uint64_t{1} << half) - 1;
  const int exponent = a.exponent + b.exponent;
  const bool is_negative = a.is_negative != b.is_negative;
  number.seen |= FixedPoint::other_number;
  add_signed(number, static_cast<std::uint64_t>(product) & low_half, exponent, is_negative);
  add_signed(number, static_cast<std::uint64_t>(product >> half), exponent + half, is_negative);
}

bool is_zero(const FixedPoint& number) noexcept {
  for (std::int32_t i = number.low; i <= number.high; ++i)
    if (number.digits[static_cast<std::size_t>(i)] != 0) return false;
  return true;
}

std::uint64_t bits_at(const FixedPoint& number, int position) noexcept {
  const int place = position / FixedPoint::digit_bits;
  UnsignedWide window = 0;
  for (int i = std::max(place, number.low); i <= std::min(place + 2, number.high); ++i)
    window |= static_cast<UnsignedWide>(number.digits[static_cast<std::size_t>(i)]) << (32 * (i - place));
  return static_cast<std::uint64_t>(window >> (position % FixedPoint::digit_bits));
}

}  // namespace tutti::kernels::exact
