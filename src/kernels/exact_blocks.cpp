// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/exact_blocks.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tutti::kernels::exact {
namespace {

// Four registers of AVX2; the compiler makes more, or fewer, where registers have another length.
constexpr std::size_t lanes = 4;
constexpr std::size_t unrolled = 2;
constexpr std::size_t step = lanes * unrolled;
using Numbers [[gnu::vector_size(lanes * sizeof(double))]] = double;
using Words [[gnu::vector_size(lanes * sizeof(double))]] = std::uint64_t;
using Halves [[gnu::vector_size(lanes * sizeof(double))]] = std::uint32_t;

constexpr int integer_bits = 52;
constexpr int exponent_bias = 1023;
constexpr int least_exponent = -1074 + integer_bits;
constexpr int most_exponent = 1023 - integer_bits;
/// Numbers below 2^(exponent + room) can be split.
constexpr int room = integer_bits - 1;
/// So many bits are left for larger numbers: of later blocks, or of the same if only its first ones have been looked
/// at.
constexpr int spare_bits = 2;
constexpr int spare_bits_at_first = 6;

/// 1.5 * 2^(52 + exponent): added to a small number, it rounds it to a multiple of 2^exponent, which can be read from
/// the bits.
double rounder(int exponent) noexcept {
  return std::bit_cast<double>((static_cast<std::uint64_t>(integer_bits + exponent + exponent_bias) << integer_bits) |
                               (std::uint64_t{1} << (integer_bits - 1)));
}

/// The sum of rounded numbers as that of their bits, and that of the rests, which is exact if the numbers are close
/// enough to each other.
struct NearSums {
  Words integers = {};
  Numbers rests[unrolled] = {};
  Halves most = {};          ///< of the bits of |x|
  Halves least = ~Halves{};  ///< of the same, less one, so that zeros do not count
};
/// The same where a second integer holds the rests.
struct FarSums {
  Words integers = {};
  Words low_integers = {};
  Words rests = {};  ///< not zero where the integers do not hold all of a number
};

// Vectors are passed by reference alone (kernels/lane_types.hpp).
inline void load(const double* values, Numbers& x) noexcept { std::memcpy(&x, values, sizeof x); }
inline void load(const float* values, Numbers& x) noexcept {
  using Narrow [[gnu::vector_size(lanes * sizeof(float))]] = float;
  Narrow narrow;
  std::memcpy(&narrow, values, sizeof narrow);
  x = __builtin_convertvector(narrow, Numbers);
}

template <typename T>
inline void add_step(NearSums& sums, const T* values, double rounder) noexcept {
  for (std::size_t k = 0; k < unrolled; ++k) {
    Numbers x;
    load(values + k * lanes, x);
    const Numbers sum = x + rounder;
    sums.rests[k] += x - (sum - rounder);
    sums.integers += reinterpret_cast<Words>(sum);
    const Words size = reinterpret_cast<Words>(x) & (~std::uint64_t{0} >> 1);
    const auto most = reinterpret_cast<Halves>(size);
    const auto least = reinterpret_cast<Halves>(size - 1);
    sums.most = most > sums.most ? most : sums.most;
    sums.least = least < sums.least ? least : sums.least;
  }
}

template <typename T>
inline void add_step(FarSums& sums, const T* values, double rounder) noexcept {
  const double low_rounder = rounder * 0x1p-52;
  for (std::size_t k = 0; k < unrolled; ++k) {
    Numbers x;
    load(values + k * lanes, x);
    const Numbers sum = x + rounder;
    const Numbers rest = x - (sum - rounder);
    const Numbers low_sum = rest + low_rounder;
    sums.integers += reinterpret_cast<Words>(sum);
    sums.low_integers += reinterpret_cast<Words>(low_sum);
    sums.rests |= reinterpret_cast<Words>(rest - (low_sum - low_rounder));
  }
}

/// The sums of a block, with zeros up to a whole step.
template <typename Sums, typename T>
Sums sums_of(const T* values, std::size_t count, int exponent) noexcept {
  const double place = rounder(exponent);
  Sums sums;
  const std::size_t whole = count - count % step;
  for (std::size_t i = 0; i < whole; i += step) add_step(sums, values + i, place);
  if (whole == count) return sums;
  T last[step] = {};
  std::copy(values + whole, values + count, last);
  add_step(sums, last, place);
  return sums;
}

/// The sum of the integers, without the rounders, of which there is one for each number of a whole step.
std::int64_t total(const Words& words, std::size_t count, int exponent) noexcept {
  const std::uint64_t rounders = (count + step - 1) / step * step * std::bit_cast<std::uint64_t>(rounder(exponent));
  return static_cast<std::int64_t>((words[0] + words[1]) + (words[2] + words[3]) - rounders);
}

double total(const Numbers (&rests)[unrolled]) noexcept {
  const Numbers sum = rests[0] + rests[1];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// The exponent in the upper half of a number's bits, by which numbers are compared: there are minima of 32 bits.
int exponent_in(std::uint32_t half) noexcept { return static_cast<int>(half >> (integer_bits - 32)) - exponent_bias; }

/// What the upper halves of all lanes come to.
template <typename Choose>
std::uint32_t chosen(const Halves& halves, const Choose& choose) noexcept {
  constexpr std::size_t upper = std::endian::native == std::endian::little ? 1 : 0;
  std::uint32_t result = halves[upper];
  for (std::size_t lane = 1; lane < lanes; ++lane) result = choose(result, halves[2 * lane + upper]);
  return result;
}
/// 2^least <= |x| < 2^(most + 1) for all numbers but zeros.
struct Exponents {
  int most;
  int least;
};
Exponents exponents_of(const NearSums& sums) noexcept {
  return {exponent_in(chosen(sums.most, [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); })),
          exponent_in(chosen(sums.least, [](std::uint32_t a, std::uint32_t b) { return std::min(a, b); }))};
}

bool is_minus_zero(double x) noexcept { return x == 0 && std::signbit(x); }

/// Whether the rests of a block of such numbers add up exactly: they are multiples of 2^(least - digits + 1), and their
/// sum is at most the block times 2^(exponent - 1).
template <typename T>
bool is_near(const Exponents& found, int exponent) noexcept {
  constexpr int block_bits = std::bit_width(BlockAdder::block) - 1;
  constexpr int spread = block_bits - 1 + std::numeric_limits<T>::digits - 1 - std::numeric_limits<double>::digits;
  return found.most < exponent + room && found.least >= exponent + spread;
}

int place_for(const Exponents& found, int spare) noexcept {
  return std::clamp(found.most + 1 - room + spare, least_exponent, most_exponent);
}

}  // namespace

template <typename T>
void BlockAdder::add_block(const T* values, std::size_t count) noexcept {
  auto sums = sums_of<NearSums>(values, count, exponent_);
  const Exponents found = exponents_of(sums);
  if (!is_near<T>(found, exponent_)) {
    exponent_ = place_for(found, spare_bits);
    if (!is_near<T>(found, exponent_))
      return found.most < exponent_ + room ? add_far(values, count) : add_each(values, count);
    sums = sums_of<NearSums>(values, count, exponent_);
  }
  const std::int64_t integer = total(sums.integers, count, exponent_);
  const double rest = total(sums.rests);
  if (integer != 0) exact::add(sum_, integer, exponent_);
  if (rest != 0) exact::add(sum_, rest);
  note(integer != 0 || rest != 0, values, count);
}

template <typename T>
void BlockAdder::add_far(const T* values, std::size_t count) noexcept {
  const auto sums = sums_of<FarSums>(values, count, exponent_);
  const Words& rests = sums.rests;
  if ((rests[0] | rests[1] | rests[2] | rests[3]) != 0) return add_each(values, count);
  const std::int64_t integer = total(sums.integers, count, exponent_);
  const std::int64_t low_integer = total(sums.low_integers, count, exponent_ - integer_bits);
  exact::add(sum_, integer, exponent_);
  exact::add(sum_, low_integer, exponent_ - integer_bits);
  note(integer != 0 || low_integer != 0, values, count);
}

template <typename T>
void BlockAdder::add_each(const T* values, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    if (!adds_rests_ || values[i] != 0) exact::add(sum_, static_cast<double>(values[i]));
}

/// Notes the addends of a block, whose sum may tell that there are others than zeros.
template <typename T>
void BlockAdder::note(bool is_other, const T* values, std::size_t count) noexcept {
  if (is_other) sum_.seen |= FixedPoint::other_number;
  if (adds_rests_ || (sum_.seen & FixedPoint::other_number) != 0) return;
  for (std::size_t i = 0; i < count; ++i)
    sum_.seen |= is_minus_zero(values[i]) ? FixedPoint::minus_zero : FixedPoint::other_number;
}

template <typename T>
void BlockAdder::add(const T* values, std::size_t count) noexcept {
  if (count < step) return add_each(values, count);
  if (exponent_ == none) exponent_ = place_for(exponents_of(sums_of<NearSums>(values, step, 0)), spare_bits_at_first);
  for (std::size_t begin = 0; begin < count; begin += block) add_block(values + begin, std::min(block, count - begin));
}
template void BlockAdder::add(const double* values, std::size_t count) noexcept;
template void BlockAdder::add(const float* values, std::size_t count) noexcept;

void BlockAdder::add_rests(const double* rests, std::size_t count) noexcept {
  adds_rests_ = true;
  add(rests, count);
}

}  // namespace tutti::kernels::exact
