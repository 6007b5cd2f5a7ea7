// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tutti::miniapps {

/// Rows of a table by Zipf's law, as users' clicks are: row number k in the order of frequency k^-exponent times as
/// often as the first; exponent 0: all alike often. Rows that occur often are not neighbours. By rejection-inversion:
/// Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions", ACM TOMACS
/// 6(3), 1996.
class Zipf {
 public:
  /// `rows` >= 1.
  Zipf(std::uint64_t rows, double exponent)
      : rows_(rows),
        exponent_(exponent),
        first_(integral(1.5) - 1),
        last_(integral(static_cast<double>(rows) + 0.5)),
        sure_(2 - inverse(integral(2.5) - weight(2))) {}

  /// Draws a row; uniform() gives numbers in [0, 1), and is called until one is accepted, a little over once on
  /// average.
  template <typename Uniform>
  [[nodiscard]] std::uint64_t operator()(Uniform&& uniform) const {
    return spread(number(uniform) - 1);
  }

 private:
  static constexpr std::uint64_t prime = 2654435761;  // has no divisor in common with the number of rows

  [[nodiscard]] double weight(double x) const { return std::pow(x, -exponent_); }
  /// Integral of weight(), up to a constant.
  [[nodiscard]] double integral(double x) const {
    return exponent_ == 1 ? std::log(x) : (std::pow(x, 1 - exponent_) - 1) / (1 - exponent_);
  }
  [[nodiscard]] double inverse(double y) const {
    return exponent_ == 1 ? std::exp(y) : std::pow(1 + y * (1 - exponent_), 1 / (1 - exponent_));
  }
  /// From 1 to rows.
  template <typename Uniform>
  std::uint64_t number(Uniform& uniform) const {
    for (;;) {
      const double y = last_ + uniform() * (first_ - last_);
      const double x = inverse(y);
      const double k = std::clamp(std::floor(x + 0.5), 1.0, static_cast<double>(rows_));
      if (k - x <= sure_ || y >= integral(k + 0.5) - weight(k)) return static_cast<std::uint64_t>(k);
    }
  }
  [[nodiscard]] std::uint64_t spread(std::uint64_t number) const { return number * prime % rows_; }

  std::uint64_t rows_;
  double exponent_;
  double first_;
  double last_;
  double sure_;
};

}  // namespace tutti::miniapps
