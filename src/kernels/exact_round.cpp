// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/exact_round.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "kernels/exact_digits.hpp"

namespace tutti::kernels::exact {
namespace {

constexpr int top_bits = 128;
constexpr UnsignedWide half_of_top = UnsignedWide{1} << (top_bits - 1);

/// A positive number: top * 2^exponent, whose highest bit is set, and something less than 2^exponent if it has a rest.
struct Magnitude {
  UnsignedWide top;
  int exponent;
  bool has_rest;
};

/// The digits of |sum| from its lowest one on, and how many there are up to the highest that is not zero.
struct Digits {
  std::array<std::uint32_t, FixedPoint::digit_count + 1> digits;
  int count = 0;
  bool is_negative = false;
};

Digits digits_of(const FixedPoint& sum) noexcept {
  Digits d;
  d.is_negative = is_negative(sum);
  std::uint64_t carried = d.is_negative ? 1 : 0;
  for (std::int32_t i = sum.low; i <= sum.high; ++i) {
    const auto digit = static_cast<std::uint32_t>(sum.digits[static_cast<std::size_t>(i)]);
    carried += d.is_negative ? static_cast<std::uint32_t>(~digit) : digit;
    const std::int32_t place = i - sum.low;
    d.digits[static_cast<std::size_t>(place)] = static_cast<std::uint32_t>(carried);
    if (static_cast<std::uint32_t>(carried) != 0) d.count = place + 1;
    carried >>= 32;
  }
  return d;
}

int leading_zeros(UnsignedWide x) noexcept {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return high != 0 ? __builtin_clzll(high) : 64 + __builtin_clzll(static_cast<std::uint64_t>(x));
}

/// The four highest digits, moved up, and the bits of the fifth that then follow.
Magnitude magnitude_of(const Digits& d, int lowest_digit) noexcept {
  const auto digit = [&d](int i) { return i < 0 ? 0U : d.digits[static_cast<std::size_t>(i)]; };
  UnsignedWide top = 0;
  for (int k = 1; k <= 4; ++k) top = (top << 32) | digit(d.count - k);
  const int shift = leading_zeros(top);
  const std::uint64_t next = static_cast<std::uint64_t>(digit(d.count - 5)) << shift;
  bool has_rest = static_cast<std::uint32_t>(next) != 0;
  for (int i = d.count - 6; i >= 0 && !has_rest; --i) has_rest = digit(i) != 0;
  return {(top << shift) | (next >> 32), FixedPoint::lowest + 32 * (lowest_digit + d.count - 4) - shift, has_rest};
}

double round(const Magnitude& x, const Format& format) noexcept {
  const int last = std::max(x.exponent + top_bits - format.precision, format.least);
  const int shift = last - x.exponent;
  if (shift > top_bits) return 0;
  const UnsignedWide kept = shift == top_bits ? 0 : x.top >> shift;
  const UnsignedWide dropped = shift == top_bits ? x.top : x.top << (top_bits - shift);
  const bool is_odd = (static_cast<std::uint64_t>(kept) & 1U) != 0;
  const bool is_up = dropped > half_of_top || (dropped == half_of_top && (x.has_rest || is_odd));
  const double result = std::ldexp(static_cast<double>(static_cast<std::uint64_t>(kept) + (is_up ? 1 : 0)), last);
  return result < std::ldexp(1.0, format.limit - 1) * 2 ? result : std::numeric_limits<double>::infinity();
}

/// floor(sqrt(x)) of a number whose two highest bits are not both zero, by digits.
std::uint64_t integer_root(UnsignedWide x, UnsignedWide& remainder) noexcept {
  UnsignedWide root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const UnsignedWide trial = root | (UnsignedWide{1} << bit);
    if (trial * trial <= x) root = trial;
  }
  remainder = x - root * root;
  return static_cast<std::uint64_t>(root);
}

Magnitude root_of(const Magnitude& x) noexcept {
  const bool is_odd = x.exponent % 2 != 0;
  const bool loses = is_odd && (static_cast<std::uint64_t>(x.top) & 1U) != 0;
  UnsignedWide remainder = 0;
  const std::uint64_t root = integer_root(is_odd ? x.top >> 1 : x.top, remainder);
  return {static_cast<UnsignedWide>(root) << 64, (x.exponent + (is_odd ? 1 : 0)) / 2 - 64,
          x.has_rest || loses || remainder != 0};
}

constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

/// The result of addends that are not all finite.
double special(std::uint32_t seen) noexcept {
  const bool has_plus = (seen & FixedPoint::infinity) != 0;
  const bool has_minus = (seen & FixedPoint::minus_infinity) != 0;
  if ((seen & FixedPoint::nan) != 0 || (has_plus && has_minus)) return quiet_nan;
  return has_plus ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

template <typename Function>
double rounded_by(FixedPoint& sum, const Function& function) noexcept {
  if ((sum.seen & (FixedPoint::nan | FixedPoint::infinity | FixedPoint::minus_infinity)) != 0) return special(sum.seen);
  carry(sum);
  const Digits digits = digits_of(sum);
  if (digits.count == 0) return sum.seen == FixedPoint::minus_zero ? -0.0 : 0.0;
  return function(magnitude_of(digits, sum.low), digits.is_negative);
}

}  // namespace

Format format_of(DatatypeKind kind) noexcept {
  switch (kind) {
    case DatatypeKind::float32:
    case DatatypeKind::complex64:
      return {24, -149, 128};
    case DatatypeKind::bfloat16:
      return {8, -133, 128};
    case DatatypeKind::float16:
      return {11, -24, 16};
    default:
      return float64_format;
  }
}

double rounded(FixedPoint& sum, const Format& format) noexcept {
  return rounded_by(sum, [&format](const Magnitude& x, bool is_negative) {
    return is_negative ? -round(x, format) : round(x, format);
  });
}

double rounded_root(FixedPoint& sum, const Format& format) noexcept {
  if ((sum.seen & FixedPoint::minus_infinity) != 0) return quiet_nan;
  return rounded_by(sum, [&format](const Magnitude& x, bool is_negative) {
    return is_negative ? quiet_nan : round(root_of(x), format);
  });
}

}  // namespace tutti::kernels::exact
