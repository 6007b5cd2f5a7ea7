// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <limits>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

namespace tutti {

/// Counts or displacements, in elements, one for each rank: a view of std::size_t numbers, or a copy of integers of
/// another type, as MPI programs have them. A negative number is refused by the call. Made for the arguments of calls,
/// which copy them: a temporary is allowed.
class Counts {
 public:
  Counts() = default;
  // NOLINTBEGIN(google-explicit-constructor): spans, vectors and arrays are counts
  template <std::ranges::contiguous_range R>
  requires(std::ranges::sized_range<R>&& std::integral<std::ranges::range_value_t<R>> &&
           !std::same_as<std::remove_cvref_t<R>, Counts>) Counts(const R& numbers) {
    if constexpr (std::same_as<std::ranges::range_value_t<R>, std::size_t>) {
      view_ = {std::ranges::data(numbers), static_cast<std::size_t>(std::ranges::size(numbers))};
    } else {
      copy_.reserve(static_cast<std::size_t>(std::ranges::size(numbers)));
      std::ranges::transform(numbers, std::back_inserter(copy_), from<std::ranges::range_value_t<R>>);
      view_ = copy_;
    }
  }
  operator std::span<const std::size_t>() const { return view_; }
  // NOLINTEND(google-explicit-constructor)
  Counts(const Counts&) = delete;
  Counts& operator=(const Counts&) = delete;
  ~Counts() = default;

 private:
  template <std::integral N>
  static constexpr std::size_t from(N number) {
    if constexpr (std::is_signed_v<N>)
      if (number < 0) return std::numeric_limits<std::size_t>::max();
    return static_cast<std::size_t>(number);
  }

  std::vector<std::size_t> copy_{};
  std::span<const std::size_t> view_{};
};

}  // namespace tutti
