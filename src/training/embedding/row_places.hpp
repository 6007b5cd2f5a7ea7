// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>
#include <tutti/table_rows.hpp>

namespace tutti::detail {

/// Finds the places of rows among some rows of a table: a number below size() for each row that is one of them, and
/// no such number for any other. In a block it is the distance from the first row. Else there is no division either:
/// for a step s = o * 2^k with o odd, it is that distance times the inverse of o modulo 2^64, rotated right by k
/// (Warren, Hacker's Delight, 10-17: test for zero remainder).
template <bool is_block>
class RowPlaces {
 public:
  explicit RowPlaces(const TableRows& rows)
      : begin_(static_cast<std::uint64_t>(rows.begin)),
        size_(static_cast<std::uint64_t>(rows.size())),
        shift_(std::countr_zero(static_cast<std::uint64_t>(rows.step))),
        inverse_(inverse(static_cast<std::uint64_t>(rows.step) >> shift_)) {}

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t of(std::int64_t row) const {
    const std::uint64_t distance = static_cast<std::uint64_t>(row) - begin_;
    return is_block ? distance : std::rotr(distance * inverse_, shift_);
  }

 private:
  /// By Newton's iteration, which doubles the right bits: an odd number is its own inverse in the lowest three.
  static std::uint64_t inverse(std::uint64_t odd) {
    std::uint64_t x = odd;
    for (int bits = 3; bits < 64; bits *= 2) x *= 2 - odd * x;
    return x;
  }

  std::uint64_t begin_;
  std::uint64_t size_;
  int shift_;
  std::uint64_t inverse_;
};

}  // namespace tutti::detail
