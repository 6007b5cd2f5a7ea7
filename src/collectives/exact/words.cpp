// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/exact/words.hpp"

#include <algorithm>
#include <bit>

#include "kernels/exact_digits.hpp"
#include "kernels/exact_round.hpp"

namespace tutti::detail {
namespace {

constexpr int word_bits = 62;  ///< of 64, without the sign and one for carries
/// Of the number of addends, 2^63 at most, and of the sign.
constexpr int count_bits = 64;

std::size_t quotient_up(int a, int b) { return static_cast<std::size_t>((a + b - 1) / b); }

}  // namespace

ExactWords::ExactWords(DatatypeKind kind, int ranks) noexcept
    : rank_bits_(std::bit_width(static_cast<unsigned>(ranks))), digit_bits_(word_bits - rank_bits_) {
  const kernels::exact::Format format = kernels::exact::format_of(kind);
  lowest_ = 2 * format.least;
  digits_ = quotient_up(2 * format.limit + count_bits - lowest_, digit_bits_);
  seen_ = quotient_up(FixedPoint::seen_bits, word_bits / rank_bits_);
}

/// Calls each(bit, word, shift) for all counts: of which bit of FixedPoint::seen, and where.
template <typename Each>
void ExactWords::for_each_count(const Each& each) const noexcept {
  std::size_t word = digits_;
  int shift = 0;
  for (int bit = 0; bit < FixedPoint::seen_bits; ++bit, shift += rank_bits_) {
    if (shift + rank_bits_ > word_bits) ++word, shift = 0;
    each(bit, word, shift);
  }
}

void ExactWords::write(FixedPoint& sum, std::int64_t* words) const noexcept {
  kernels::exact::carry(sum);
  const bool is_negative = kernels::exact::is_negative(sum);
  if (is_negative) kernels::exact::negate(sum);
  std::fill_n(words, count(), 0);
  const std::uint64_t digit = (std::uint64_t{1} << digit_bits_) - 1;
  const int origin = lowest_ - FixedPoint::lowest;
  const int first = std::max(sum.low * FixedPoint::digit_bits - origin, 0) / digit_bits_;
  const int last = ((sum.high + 1) * FixedPoint::digit_bits - 1 - origin) / digit_bits_;
  for (int i = first; i <= last && i < static_cast<int>(digits_); ++i) {
    const auto word = static_cast<std::int64_t>(kernels::exact::bits_at(sum, origin + i * digit_bits_) & digit);
    words[i] = is_negative ? -word : word;
  }
  for_each_count([&](int bit, std::size_t word, int shift) {
    words[word] |= static_cast<std::int64_t>((sum.seen >> bit) & 1U) << shift;
  });
}

void ExactWords::read(const std::int64_t* words, FixedPoint& sum) const noexcept {
  for (std::size_t i = 0; i < digits_; ++i)
    if (words[i] != 0) kernels::exact::add(sum, words[i], lowest_ + static_cast<int>(i) * digit_bits_);
  const std::int64_t count = (std::int64_t{1} << rank_bits_) - 1;
  for_each_count([&](int bit, std::size_t word, int shift) {
    if (((words[word] >> shift) & count) != 0) sum.seen |= 1U << bit;
  });
}

}  // namespace tutti::detail
