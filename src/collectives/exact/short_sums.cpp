// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/exact/short_sums.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "call/few.hpp"
#include "kernels/exact_digits.hpp"

namespace tutti::detail {

using kernels::exact::Expansion;

// NOLINTNEXTLINE(*-member-init): few_
ShortSums::ShortSums(const Communicator& comm, ExactWork& work)
    : work_(work), rank_(static_cast<std::size_t>(comm.rank())), ranks_(static_cast<std::size_t>(comm.size())) {
  if (ranks_ * block() > few_.size()) many_ = std::make_unique_for_overwrite<double[]>(ranks_ * block());
}

Expansion ShortSums::own(std::size_t i) {
  Expansion sum;
  if (work_.fill(i, sum)) return sum;
  full_.resize(work_.sums());
  if (full_[i].seen == 0) work_.fill(i, full_[i]);
  return kernels::exact::expansion_of(full_[i]);
}

void ShortSums::fill_numbers(const double* numbers) noexcept {
  double* own = own_block();
  constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < work_.sums(); ++i) own[i] = std::isnan(numbers[i]) ? quiet_nan : numbers[i];
  std::fill(own + work_.sums(), own + block(), 0.0);
}

/// A misfit. The caller's elements may change before its sums are asked for.
void ShortSums::fill_in_full() {
  own_block()[0] = kernels::exact::misfit;
  full_.resize(work_.sums());
  for (std::size_t i = 0; i < work_.sums(); ++i)
    if (full_[i].seen == 0) work_.fill(i, full_[i]);
}

void ShortSums::fill(std::size_t parts) {
  parts_ = parts;
  full_.clear();
  if (const double* numbers = work_.numbers()) return fill_numbers(numbers);
  for (std::size_t i = 0; i < work_.sums(); ++i) {
    const Expansion sum = own(i);
    if (is_misfit(sum) || (parts == 1 && !kernels::exact::is_single(sum))) return fill_in_full();
    for (std::size_t p = 0; p < parts; ++p) own_block()[p * work_.sums() + i] = sum.parts[p];
  }
}

bool ShortSums::has_misfit() const noexcept {
  for (std::size_t r = 0; r < ranks_ && block() > 0; ++r)
    if (kernels::exact::is_misfit(words()[r * block()])) return true;
  return false;
}

bool ShortSums::is_single() const noexcept {
  std::uint64_t bits = 0;
  for (std::size_t r = 0; r < ranks_; ++r)
    for (std::size_t i = work_.sums(); i < block(); ++i) bits |= std::bit_cast<std::uint64_t>(words()[r * block() + i]);
  return bits == 0;
}

Expansion ShortSums::of_rank(std::size_t rank, std::size_t i) const noexcept {
  Expansion sum{{0.0, 0.0, 0.0}};
  for (std::size_t p = 0; p < parts_; ++p) sum.parts[p] = words()[rank * block() + p * work_.sums() + i];
  return sum;
}

void ShortSums::finish(std::size_t i, double* rounded) {
  Few<Expansion, 8> sums(ranks_);
  for (std::size_t r = 0; r < ranks_; ++r) sums[r] = of_rank(r, i);
  if (rounded != nullptr && kernels::exact::round_few(sums.begin(), ranks_, rounded[i])) return;
  FixedPoint total;
  for (const Expansion& sum : sums) kernels::exact::add(total, sum);
  work_.finish(i, total);
}

void ShortSums::finish() {
  double* rounded = work_.rounded();
  const bool is_quick = rounded != nullptr && is_single();
  if (is_quick && kernels::exact::round_singles(words(), ranks_, block(), work_.sums(), rounded)) return;
  for (std::size_t i = 0; i < work_.sums(); ++i)
    if (!is_quick || !kernels::exact::is_meant(rounded[i])) finish(i, rounded);
}

std::span<FixedPoint> ShortSums::in_full() {
  if (work_.sums() == 0 || kernels::exact::is_misfit(own_block()[0])) return full_;
  full_.assign(work_.sums(), {});
  for (std::size_t i = 0; i < work_.sums(); ++i) kernels::exact::add(full_[i], of_rank(rank_, i));
  return full_;
}

}  // namespace tutti::detail
