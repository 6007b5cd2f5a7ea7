// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace tutti::kernelbench {

/// Draws rows of a table: all alike often, or by Zipf's law, as users' clicks are, with row number k in the order of
/// frequency k^-exponent times as often as the first. Rows that occur often are not neighbours. By rejection-inversion:
/// Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions", ACM TOMACS
/// 6(3), 1996.
class RandomRows {
 public:
  /// exponent 0: all alike. `rows` >= 1.
  RandomRows(std::size_t rows, double exponent, std::uint64_t seed)
      : rows_(rows),
        exponent_(exponent),
        generator_(seed),
        first_(integral(1.5) - 1),
        last_(integral(static_cast<double>(rows) + 0.5)),
        sure_(2 - inverse(integral(2.5) - weight(2))) {}

  std::int64_t operator()() {
    if (exponent_ == 0) return static_cast<std::int64_t>(generator_() % rows_);
    return spread(number() - 1);
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
  std::uint64_t number() {
    for (;;) {
      const double y = last_ + uniform_(generator_) * (first_ - last_);
      const double x = inverse(y);
      double k = std::floor(x + 0.5);
      if (k < 1) k = 1;
      if (k > static_cast<double>(rows_)) k = static_cast<double>(rows_);
      if (k - x <= sure_ || y >= integral(k + 0.5) - weight(k)) return static_cast<std::uint64_t>(k);
    }
  }
  [[nodiscard]] std::int64_t spread(std::uint64_t number) const {
    return static_cast<std::int64_t>(number * prime % rows_);
  }

  std::uint64_t rows_;
  double exponent_;
  std::mt19937_64 generator_;
  std::uniform_real_distribution<double> uniform_{0, 1};
  double first_;
  double last_;
  double sure_;
};

}  // namespace tutti::kernelbench
