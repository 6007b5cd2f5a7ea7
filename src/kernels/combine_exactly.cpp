// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <tutti/error.hpp>

#include "kernels/combine.hpp"
#include "kernels/combine_host.hpp"
#include "kernels/exact_digits.hpp"
#include "kernels/exact_expansion.hpp"
#include "kernels/exact_round.hpp"

/// Sums of a number of each rank. Two float64 hold nearly all of them; the others take the superaccumulator.
namespace tutti::kernels {
namespace {

/// The sums of a block as those of two numbers, and what these do not hold.
struct Sums {
  alignas(64) double sums[combine_block];
  alignas(64) double rests[combine_block];
  alignas(64) double lost[combine_block];
  alignas(64) double numbers[combine_block];
};

template <typename T>
void widen_block(const T* __restrict input, double* __restrict output, std::size_t n) {
  if constexpr (is_small_float<T>) {
    alignas(64) float wide[combine_block];
    widen(input, wide, n);
    widen_block(static_cast<const float*>(wide), output, n);
  } else {
    for (std::size_t i = 0; i < n; ++i) output[i] = input[i];
  }
}

void add_block(Sums& b, std::size_t n) {
  TUTTI_INDEPENDENT_LOOP
  for (std::size_t i = 0; i < n; ++i) {
    double x = b.numbers[i];
    exact::two_sum(b.sums[i], x);
    exact::two_sum(b.rests[i], x);
    b.lost[i] += std::fabs(x);
  }
}

/// Rounds the sums to float64. Leaves in the rests the difference, and in `lost` not zero where it is not that.
void round_block(Sums& b, std::size_t n) {
  TUTTI_INDEPENDENT_LOOP
  for (std::size_t i = 0; i < n; ++i) {
    double sum = b.sums[i];
    double rest = b.rests[i];
    exact::two_sum(sum, rest);
    b.sums[i] = b.rests[i] == 0 ? b.sums[i] : sum;  // keeps -0
    b.rests[i] = rest;
  }
}

/// Rounds a sum to an odd number next to it where it is none itself: a second rounding to fewer bits then gives the
/// number nearest to the sum (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
void make_odd(Sums& b, std::size_t n) {
  TUTTI_INDEPENDENT_LOOP
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = std::bit_cast<std::uint64_t>(b.sums[i]);
    const std::uint64_t is_beyond = (bits ^ std::bit_cast<std::uint64_t>(b.rests[i])) >> 63;
    b.sums[i] = b.rests[i] == 0 ? b.sums[i] : std::bit_cast<double>((bits - is_beyond) | 1U);
  }
}

/// The same for the step to float32 if a further one follows.
float odd_float(double x) {
  const auto near = static_cast<float>(x);
  if (static_cast<double>(near) == x || std::isnan(x)) return near;
  const auto bits = std::bit_cast<std::uint32_t>(near);
  return std::bit_cast<float>((bits - (std::fabs(static_cast<double>(near)) > std::fabs(x) ? 1U : 0U)) | 1U);
}

template <typename T>
void store_sums(const Sums& b, T* __restrict output, std::size_t n) {
  if constexpr (is_small_float<T>) {
    alignas(64) float wide[combine_block];
    for (std::size_t i = 0; i < n; ++i) wide[i] = odd_float(b.sums[i]);
    narrow(wide, output, n);
  } else {
    for (std::size_t i = 0; i < n; ++i) output[i] = static_cast<T>(b.sums[i]);
  }
}

/// The sum of element i in full: a number of the format of `kind`.
template <typename T>
double sum_in_full(DatatypeKind kind, Inputs inputs, std::size_t i) {
  detail::FixedPoint sum;
  for (const void* input : inputs) {
    double number = 0;
    widen_block(static_cast<const T*>(input) + i, &number, 1);
    exact::add(sum, number);
  }
  return exact::rounded(sum, exact::format_of(kind));
}

/// Returns true if two numbers hold a sum, which is finite.
bool is_meant(const Sums& b, std::size_t i) { return b.lost[i] + (b.sums[i] - b.sums[i]) == 0; }
bool is_whole(const Sums& b, std::size_t n) {
  std::uint64_t unmeant = 0;
  for (std::size_t i = 0; i < n; ++i) unmeant |= is_meant(b, i) ? 0U : 1U;
  return unmeant == 0;
}

template <typename T>
void combine_piece(DatatypeKind kind, Inputs inputs, std::size_t begin, T* output, std::size_t n) {
  Sums b;
  widen_block(static_cast<const T*>(inputs[0]) + begin, b.sums, n);
  std::fill_n(b.rests, n, 0.0);
  std::fill_n(b.lost, n, 0.0);
  for (const void* next : inputs.subspan(1)) {
    widen_block(static_cast<const T*>(next) + begin, b.numbers, n);
    add_block(b, n);
  }
  round_block(b, n);
  if constexpr (!std::is_same_v<T, double>) make_odd(b, n);
  const bool is_done = is_whole(b, n);
  for (std::size_t i = 0; !is_done && i < n; ++i)
    if (!is_meant(b, i)) b.sums[i] = sum_in_full<T>(kind, inputs, begin + i);
  store_sums(b, output, n);
}

template <typename T>
void combine_numbers(DatatypeKind kind, Inputs inputs, void* output, std::size_t count) {
  for (std::size_t begin = 0; begin < count; begin += combine_block) {
    T* out = static_cast<T*>(output) + begin;
    combine_piece(kind, inputs, begin, out, std::min(combine_block, count - begin));
  }
}

void combine_any(Datatype type, Inputs inputs, void* output, std::size_t count) {
  const DatatypeKind kind = type.kind();
  switch (kind) {
    case DatatypeKind::float64:
      return combine_numbers<double>(kind, inputs, output, count);
    case DatatypeKind::complex128:
      return combine_numbers<double>(kind, inputs, output, 2 * count);
    case DatatypeKind::float32:
      return combine_numbers<float>(kind, inputs, output, count);
    case DatatypeKind::complex64:
      return combine_numbers<float>(kind, inputs, output, 2 * count);
    case DatatypeKind::float16:
      return combine_numbers<float16_t>(kind, inputs, output, count);
    case DatatypeKind::bfloat16:
      return combine_numbers<bfloat16_t>(kind, inputs, output, count);
    case DatatypeKind::float8_e4m3:
      return combine_numbers<float8_e4m3_t>(kind, inputs, output, count);
    case DatatypeKind::float8_e5m2:
      return combine_numbers<float8_e5m2_t>(kind, inputs, output, count);
    default:
      throw Error(ErrorCode::invalid_op,
                  std::string("an exact sum is not defined for datatype ") + datatype_name(kind));
  }
}

}  // namespace

void combine_exactly(Datatype type, std::span<const void* const> inputs, void* output, std::size_t count,
                     std::size_t divisor) {
  if (inputs.empty())
    throw Error(ErrorCode::invalid_argument, "combine_exactly: inputs is empty; it needs at least one");
  combine_any(type, inputs, output, count);
  if (divisor != 1) divide(type, output, count, divisor);
}

}  // namespace tutti::kernels
