// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/exact_digits.hpp"

namespace tutti::kernels::exact {

/// Adds runs of numbers to a sum. A block of them is split at a fixed place into integers, which are added as such:
/// without rounding, like the bins of Demmel and Nguyen ("Parallel reproducible summation", 2015), but in integers
/// instead of floating-point numbers. What is left of numbers that are close to each other adds up exactly, too; that
/// of others is split into a second integer. A block whose numbers reach further than two integers goes to the
/// superaccumulator number by number.
class BlockAdder {
 public:
  static constexpr std::size_t block = 2048;

  explicit BlockAdder(FixedPoint& sum) noexcept : sum_(sum) {}
  /// Adds count numbers, double or float.
  template <typename T>
  void add(const T* values, std::size_t count) noexcept;
  /// The same for rests of numbers that have been added: their zeros are no addends.
  void add_rests(const double* rests, std::size_t count) noexcept;

 private:
  template <typename T>
  void add_block(const T* values, std::size_t count) noexcept;
  /// Of numbers that are not close to each other, but small enough for the place.
  template <typename T>
  void add_far(const T* values, std::size_t count) noexcept;
  template <typename T>
  void add_each(const T* values, std::size_t count) noexcept;
  template <typename T>
  void note(bool is_other, const T* values, std::size_t count) noexcept;

  FixedPoint& sum_;
  /// Where blocks are split: multiples of 2^exponent, then of 2^(exponent - 52).
  static constexpr int none = INT32_MIN;
  int exponent_ = none;
  bool adds_rests_ = false;
};

}  // namespace tutti::kernels::exact
