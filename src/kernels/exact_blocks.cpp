// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/exact_blocks.hpp"

#include <cmath>
#include <cstring>

namespace tutti::kernels::exact {
namespace {

// Four registers of AVX2; the compiler makes more, or fewer, where registers have another length.
constexpr std::size_t lanes = 4;
constexpr std::size_t unrolled = 4;
constexpr std::size_t step = lanes * unrolled;
using Numbers [[gnu::vector_size(lanes * sizeof(double))]] = double;
using Words [[gnu::vector_size(lanes * sizeof(double))]] = std::uint64_t;

constexpr int integer_bits = 52;
constexpr int least_exponent = -1074 + integer_bits;
constexpr int most_exponent = 1023 - integer_bits;
/// Numbers below 2^(exponent + 51) can be split. So many bits are left for larger ones: of later blocks, or of the same
/// if only its first numbers have been looked at.
constexpr int spare_bits = 2;
constexpr int spare_bits_at_first = 6;

/// 1.5 * 2^(52 + exponent): added to a small number, it rounds it to a multiple of 2^exponent, which can be read from
/// the bits.
double rounder(int exponent) noexcept { return std::ldexp(1.5, integer_bits + exponent); }

std::uint64_t bits_of(double x) noexcept {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

/// Integers of each lane, as sums of the bits of rounded numbers.
template <int Integers>
struct Sums {
  Words integers[Integers][unrolled] = {};
  Words exponents = {};  ///< not all zero in the upper bits where a number was too large
  Words rests = {};      ///< not zero where the integers do not hold all of a number
};

inline Numbers load(const double* values) noexcept {
  Numbers x;
  std::memcpy(&x, values, sizeof x);
  return x;
}
inline Numbers load(const float* values) noexcept {
  using Narrow [[gnu::vector_size(lanes * sizeof(float))]] = float;
  Narrow x;
  std::memcpy(&x, values, sizeof x);
  return __builtin_convertvector(x, Numbers);
}

template <int Integers, typename T>
inline void add_step(Sums<Integers>& sums, const T* values, const double (&rounders)[Integers]) noexcept {
  for (std::size_t k = 0; k < unrolled; ++k) {
    Numbers rest = load(values + k * lanes);
    for (int i = 0; i < Integers; ++i) {
      const Numbers rounder = Numbers{} + rounders[i];
      const Numbers sum = rest + rounder;
      rest -= sum - rounder;
      sums.integers[i][k] += reinterpret_cast<Words>(sum);
      if (i == 0) sums.exponents |= reinterpret_cast<Words>(sum) ^ reinterpret_cast<Words>(rounder);
    }
    sums.rests |= reinterpret_cast<Words>(rest);
  }
}

std::uint64_t total(const Words (&words)[unrolled]) noexcept {
  std::uint64_t sum = 0;
  for (const Words& word : words)
    for (std::size_t lane = 0; lane < lanes; ++lane) sum += word[lane];
  return sum;
}

std::uint64_t any(const Words& words) noexcept {
  std::uint64_t bits = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane) bits |= words[lane];
  return bits;
}

/// The largest |x| of the finite numbers.
template <typename T>
double largest(const T* values, std::size_t count) noexcept {
  Numbers most[unrolled] = {};
  std::size_t i = 0;
  for (; i + step <= count; i += step)
    for (std::size_t k = 0; k < unrolled; ++k) {
      const Numbers x = load(values + i + k * lanes);
      const Numbers size = x < 0 ? -x : x;
      most[k] = size > most[k] ? size : most[k];
    }
  double result = 0;
  for (const Numbers& lane : most)
    for (std::size_t j = 0; j < lanes; ++j) result = std::max(result, lane[j]);
  for (; i < count; ++i) {
    const double size = std::fabs(static_cast<double>(values[i]));
    result = size > result ? size : result;
  }
  return result;
}

bool is_minus_zero(double x) noexcept { return x == 0 && std::signbit(x); }

}  // namespace

/// Returns false, and adds nothing, if the block cannot be split here.
template <int Integers, typename T>
bool BlockAdder::add_block(const T* values, std::size_t count) noexcept {
  double rounders[Integers];
  for (int i = 0; i < Integers; ++i) rounders[i] = rounder(exponent_ - i * integer_bits);
  Sums<Integers> sums;
  std::size_t taken = 0;
  for (; taken + step <= count; taken += step) add_step(sums, values + taken, rounders);
  if (taken < count) {
    T last[step] = {};
    std::memcpy(last, values + taken, (count - taken) * sizeof(T));
    add_step(sums, last, rounders);
    taken += step;
  }
  if (any(sums.rests) != 0 || (any(sums.exponents) >> integer_bits) != 0) return false;
  bool is_zero = true;
  for (int i = 0; i < Integers; ++i) {
    const auto integer = static_cast<std::int64_t>(total(sums.integers[i]) - taken * bits_of(rounders[i]));
    if (integer == 0) continue;
    exact::add(sum_, integer, exponent_ - i * integer_bits);
    is_zero = false;
  }
  if (!is_zero)
    sum_.seen |= FixedPoint::other_number;
  else if (!adds_rests_)
    note_zeros(values, count);
  return true;
}

template <typename T>
void BlockAdder::note_zeros(const T* values, std::size_t count) noexcept {
  if ((sum_.seen & FixedPoint::other_number) != 0) return;
  for (std::size_t i = 0; i < count; ++i)
    sum_.seen |= is_minus_zero(values[i]) ? FixedPoint::minus_zero : FixedPoint::other_number;
}

template <typename T>
void BlockAdder::split_for(const T* values, std::size_t count, int spare) noexcept {
  const double most = largest(values, count);
  const int wanted = most > 0 && std::isfinite(most) ? std::ilogb(most) + 1 - (integer_bits - 1) + spare : 0;
  exponent_ = std::clamp(wanted, least_exponent, most_exponent);
}

/// One integer often holds all of floats, which have fewer bits.
template <typename T>
bool BlockAdder::add_split(const T* values, std::size_t count) noexcept {
  if constexpr (sizeof(T) < sizeof(double))
    if (add_block<1>(values, count)) return true;
  return add_block<2>(values, count);
}

template <typename T>
void BlockAdder::add(const T* values, std::size_t count) noexcept {
  if (exponent_ == none) split_for(values, std::min(step, count), spare_bits_at_first);
  for (std::size_t begin = 0; begin < count; begin += block) {
    const T* numbers = values + begin;
    const std::size_t n = std::min(block, count - begin);
    if (add_split(numbers, n)) continue;
    split_for(numbers, n, spare_bits);
    if (add_split(numbers, n)) continue;
    for (std::size_t i = 0; i < n; ++i)
      if (!adds_rests_ || numbers[i] != 0) exact::add(sum_, static_cast<double>(numbers[i]));
  }
}
template void BlockAdder::add(const double* values, std::size_t count) noexcept;
template void BlockAdder::add(const float* values, std::size_t count) noexcept;

void BlockAdder::add_rests(const double* rests, std::size_t count) noexcept {
  adds_rests_ = true;
  add(rests, count);
}

}  // namespace tutti::kernels::exact
