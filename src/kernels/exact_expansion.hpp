// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tutti/detail/fixed_point.hpp>

/// The short form in which a rank gives its sum to the others.
namespace tutti::kernels::exact {

/// Knuth's TwoSum: a becomes the rounded sum, and b the rest, which is exact unless the sum overflows.
template <typename T>
inline void two_sum(T& a, T& b) noexcept {
  const T sum = a + b;
  const T part = sum - a;
  b = (a - (sum - part)) + (b - part);
  a = sum;
}

/// A sum as that of three float64, the largest first: 159 bits. A sum without addends is -0, -0; one of addends -0 is
/// -0, +0; what is not finite is in the first part. A sum that needs more bits is a misfit.
struct Expansion {
  std::array<double, 3> parts{-0.0, -0.0, 0.0};
};

/// The first part of a misfit: a quiet NaN with a payload, which no sum is.
inline constexpr auto misfit = std::bit_cast<double>(std::uint64_t{0x7ff8'0000'0000'0001});
[[nodiscard]] inline bool is_misfit(double first) noexcept {
  return std::bit_cast<std::uint64_t>(first) == std::bit_cast<std::uint64_t>(misfit);
}
[[nodiscard]] inline bool is_misfit(const Expansion& sum) noexcept { return is_misfit(sum.parts[0]); }

/// Whether the first part is all of a sum: the others are +0.
[[nodiscard]] inline bool is_single(const Expansion& sum) noexcept {
  return (std::bit_cast<std::uint64_t>(sum.parts[1]) | std::bit_cast<std::uint64_t>(sum.parts[2])) == 0;
}

/// The short form of a sum, or a misfit.
[[nodiscard]] Expansion expansion_of(const detail::FixedPoint& sum) noexcept;
/// The same of the sum of a few numbers. Returns false if it takes a detail::FixedPoint to add them.
[[nodiscard]] bool add_few(Expansion& sum, const double* values, std::size_t count) noexcept;
/// Adds a sum that is no misfit.
void add(detail::FixedPoint& sum, const Expansion& other) noexcept;

/// Rounds the sum of several to float64, as rounded() does. Returns false if it takes a detail::FixedPoint.
[[nodiscard]] bool round_few(const Expansion* sums, std::size_t count, double& result) noexcept;

/// The same for sums of a number a rank: rounds numbers[i] + numbers[stride + i] + ... of `ranks` numbers, for all i
/// below count. A result that is zero or not finite is not meant: it takes a detail::FixedPoint. Returns false if there
/// is one.
bool round_singles(const double* numbers, std::size_t ranks, std::size_t stride, std::size_t count,
                   double* results) noexcept;
[[nodiscard]] inline bool is_meant(double result) noexcept { return std::isfinite(result) && result != 0; }

}  // namespace tutti::kernels::exact
