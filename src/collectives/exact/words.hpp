// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <tutti/datatype.hpp>
#include <tutti/detail/fixed_point.hpp>

namespace tutti::detail {

/// The form in which exact sums go through an allreduce of int64 with `sum`: the digits of the sum, with room for the
/// carries of all ranks, and after them what the addends were, a count of ranks each. Follows from the datatype and the
/// number of ranks.
class ExactWords {
 public:
  ExactWords(DatatypeKind kind, int ranks) noexcept;

  /// Words of one sum.
  [[nodiscard]] std::size_t count() const noexcept { return digits_ + seen_; }
  /// Writes a sum, which it may negate: all digits have the sign of the sum.
  void write(FixedPoint& sum, std::int64_t* words) const noexcept;
  /// Adds the sum of the words of all ranks to a number.
  void read(const std::int64_t* words, FixedPoint& sum) const noexcept;

 private:
  template <typename Each>
  void for_each_count(const Each& each) const noexcept;

  int rank_bits_;   ///< of a count of ranks
  int digit_bits_;  ///< of a digit, without room
  int lowest_;      ///< digit 0 counts 2^lowest
  std::size_t digits_;
  std::size_t seen_;
};

}  // namespace tutti::detail
