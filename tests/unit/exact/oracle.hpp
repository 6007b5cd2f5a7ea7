// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tutti::test {

/// Sums in the plainest of ways: a count for each power of two.
class Oracle {
 public:
  void add(double x) { add_integer(fraction(x), exponent(x), std::signbit(x)); }
  void add_product(double x, double y) {
    const std::uint64_t f = fraction(y);
    for (int bit = 0; bit < 53; ++bit)
      if (((f >> bit) & 1U) != 0)
        add_integer(fraction(x), exponent(x) + exponent(y) + bit, std::signbit(x) != std::signbit(y));
  }
  /// The sign of the sum.
  [[nodiscard]] int sign() const {
    Oracle carried = *this;
    if (carried.carry()) return -1;
    return carried.highest() < 0 ? 0 : 1;
  }
  /// The nearest number of a format, ties to even.
  [[nodiscard]] double rounded(int precision, int least, int limit) const {
    Oracle size = *this;
    const bool is_negative = size.carry();
    if (is_negative) {
      size = *this;
      for (std::int64_t& count : size.counts_) count = -count;
      size.carry();
    }
    const double result = size.rounded_size(precision, least, limit);
    return is_negative ? -result : result;
  }
  [[nodiscard]] double rounded() const { return rounded(53, -1074, 1024); }

 private:
  static constexpr int lowest = -2400;
  static constexpr int places = 4800;

  static std::uint64_t fraction(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const bool is_normal = ((bits >> 52) & 0x7ffU) != 0;
    return (bits & 0xfffffffffffffU) + (is_normal ? std::uint64_t{1} << 52 : 0);
  }
  static int exponent(double x) {
    const auto field = static_cast<int>((std::bit_cast<std::uint64_t>(x) >> 52) & 0x7ffU);
    return field == 0 ? -1074 : field - 1075;
  }
  void add_integer(std::uint64_t value, int exponent, bool is_negative) {
    for (int bit = 0; bit < 64; ++bit)
      if (((value >> bit) & 1U) != 0) at(exponent + bit) += is_negative ? -1 : 1;
  }
  std::int64_t& at(int exponent) { return counts_[static_cast<std::size_t>(exponent - lowest)]; }
  /// Makes all counts 0 or 1. Returns true if the sum is negative.
  bool carry() {
    std::int64_t over = 0;
    for (std::int64_t& count : counts_) {
      count += over;
      over = count >> 1;
      count &= 1;
    }
    return over < 0;
  }
  /// The highest place that is not zero, or -1.
  [[nodiscard]] int highest() const {
    int place = places - 1;
    while (place >= 0 && counts_[static_cast<std::size_t>(place)] == 0) --place;
    return place;
  }
  [[nodiscard]] double rounded_size(int precision, int least, int limit) {
    const int top = highest();
    if (top < 0) return 0;
    const int last = std::max(top + lowest - precision + 1, least);
    std::uint64_t kept = 0;
    for (int e = top + lowest; e >= last; --e) kept = 2 * kept + static_cast<std::uint64_t>(at(e));
    bool has_rest = false;
    for (int e = lowest; e < last - 1; ++e) has_rest = has_rest || at(e) != 0;
    if (at(last - 1) != 0 && (has_rest || kept % 2 == 1)) ++kept;
    const double result = std::ldexp(static_cast<double>(kept), last);
    return limit < 1024 && result >= std::ldexp(1.0, limit) ? std::numeric_limits<double>::infinity() : result;
  }

  std::array<std::int64_t, places> counts_{};
};

/// Equal bits.
inline std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

}  // namespace tutti::test
