// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/exact_expansion.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/exact_digits.hpp"
#include "kernels/exact_round.hpp"

namespace tutti::kernels::exact {
namespace {

/// Adds a number to three parts. Returns what does not fit, or a NaN.
inline double add_number(std::array<double, 3>& parts, double value) noexcept {
  for (double& part : parts) two_sum(part, value);
  return value;
}

/// Rounds the sum of all parts. Returns false if three numbers do not hold it, or two do not after the sum.
bool round_parts(const Expansion* sums, std::size_t count, double& result) noexcept {
  std::array<double, 3> parts = sums[0].parts;
  double lost = 0;
  for (std::size_t i = 1; i < count; ++i)
    for (const double part : sums[i].parts)
      if (part != 0) lost += std::fabs(add_number(parts, part));
  two_sum(parts[1], parts[2]);
  two_sum(parts[0], parts[1]);
  two_sum(parts[1], parts[2]);
  two_sum(parts[0], parts[1]);
  result = parts[0];
  return lost == 0 && parts[2] == 0;
}

using Numbers [[gnu::vector_size(4 * sizeof(double))]] = double;

/// Writes the rounded sum of a number of each rank, or of a vector (by memory: a processor without such registers has
/// no way to return one). A NaN where two numbers do not hold the sum. Counts in `unmeant` the lanes whose result is
/// not meant.
template <typename T>
inline void round_numbers(const double* numbers, std::size_t ranks, std::size_t stride, T& unmeant,
                          double* to) noexcept {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  T sum;
  std::memcpy(&sum, numbers, sizeof sum);
  T rest{};
  T lost{};
  for (std::size_t r = 1; r < ranks; ++r) {
    T x;
    std::memcpy(&x, numbers + r * stride, sizeof x);
    two_sum(sum, x);
    two_sum(rest, x);
    lost += x > 0 ? x : -x;
  }
  const T result = lost == 0 ? sum + rest : T{} + std::numeric_limits<double>::quiet_NaN();
  const T size = result > 0 ? result : -result;
  unmeant += (size > 0) & (size < infinity) ? T{} : T{} + 1;
  std::memcpy(to, &result, sizeof result);
}

/// A zero, as its addends have it; a sum of other numbers that has cancelled is +0.
Expansion zero_of(std::uint32_t seen) noexcept {
  if (seen == 0) return {};
  return seen == FixedPoint::minus_zero ? Expansion{{-0.0, 0.0, 0.0}} : Expansion{{0.0, 0.0, 0.0}};
}

}  // namespace

Expansion expansion_of(const FixedPoint& sum) noexcept {
  FixedPoint rest = sum;
  Expansion result;
  result.parts = {rounded(rest, float64_format), 0.0, 0.0};
  if (!std::isfinite(result.parts[0])) return sum.seen >= FixedPoint::nan ? result : Expansion{{misfit, 0.0, 0.0}};
  if (is_zero(rest)) return zero_of(sum.seen);
  for (std::size_t i = 1; i < result.parts.size(); ++i) {
    add(rest, -result.parts[i - 1]);
    result.parts[i] = rounded(rest, float64_format);
  }
  add(rest, -result.parts.back());
  carry(rest);
  return is_zero(rest) ? result : Expansion{{misfit, 0.0, 0.0}};
}

bool add_few(Expansion& sum, const double* values, std::size_t count) noexcept {
  if (count == 0) return true;
  std::array<double, 3> parts{values[0], 0.0, 0.0};
  double lost = 0;
  for (std::size_t i = 1; i < count; ++i) lost += std::fabs(add_number(parts, values[i]));
  if (!(lost == 0) || !std::isfinite(parts[0]) || parts[0] == 0) return false;
  sum.parts = parts;
  return true;
}

void add(FixedPoint& sum, const Expansion& other) noexcept {
  const bool is_zero = other.parts[0] == 0;
  if (is_zero && std::signbit(other.parts[0])) {
    if (!std::signbit(other.parts[1])) sum.seen |= FixedPoint::minus_zero;
    return;
  }
  add(sum, other.parts[0]);
  for (std::size_t i = 1; i < other.parts.size(); ++i)
    if (other.parts[i] != 0) add(sum, other.parts[i]);
}

bool round_few(const Expansion* sums, std::size_t count, double& result) noexcept {
  // The processor rounds the sum of two numbers right.
  std::array<double, 2> first{-0.0, -0.0};
  std::size_t numbers = 0;
  for (std::size_t i = 0; i < count; ++i)
    for (const double part : sums[i].parts)
      if (part != 0 && numbers++ < first.size()) first[numbers - 1] = part;
  result = first[0] + first[1];
  const bool is_whole = numbers <= first.size() || round_parts(sums, count, result);
  return is_whole && is_meant(result);
}

bool round_singles(const double* numbers, std::size_t ranks, std::size_t stride, std::size_t count,
                   double* results) noexcept {
  constexpr std::size_t lanes = sizeof(Numbers) / sizeof(double);
  Numbers unmeant{};
  double unmeant_at_end = 0;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) round_numbers(numbers + i, ranks, stride, unmeant, results + i);
  for (; i < count; ++i) round_numbers(numbers + i, ranks, stride, unmeant_at_end, results + i);
  return unmeant[0] + unmeant[1] + unmeant[2] + unmeant[3] + unmeant_at_end == 0;
}

}  // namespace tutti::kernels::exact
