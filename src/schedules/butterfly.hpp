// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "schedules/distances.hpp"

namespace tutti::schedules {

/// Exchanges among a power of two of places: in each step every place has one partner, and after all steps it has met
/// all others, some of them through others. Step 0 is that of the nearest partners.
class Butterfly {
 public:
  Butterfly(Distances distances, int size) : distances_(distances), size_(size) {}

  [[nodiscard]] int steps() const { return floor_log2(size_); }
  [[nodiscard]] int partner(int place, int step) const {
    return is_bine() ? bine_partner(place, step, size_) : place ^ (1 << step);
  }

  /// A number for each place. Those of two partners differ in the digit of their step, and in none below it.
  [[nodiscard]] int number(int place) const {
    if (!is_bine()) return place;
    const unsigned digits = negabinary(mirrored(place));
    return static_cast<int>(digits ^ (digits >> 1));
  }
  [[nodiscard]] int place_of(int number) const {
    if (!is_bine()) return number;
    unsigned digits = static_cast<unsigned>(number);
    for (int shift = 1; shift < 32; shift *= 2) digits ^= digits >> shift;
    return mirrored(static_cast<int>(((digits ^ odd_digits) - odd_digits) & mask()));
  }
  /// Which one of two partners a place is.
  [[nodiscard]] bool is_lower(int place, int step) const { return (number(place) >> step) % 2 == 0; }

  /// Whether a message that takes some of the first `steps` steps, the farthest first, comes from a place to another.
  [[nodiscard]] bool leads(int place, int to, int steps) const {
    if (!is_bine()) return (place ^ to) >> steps == 0;
    const Run run = bine_run(place, steps, size_);
    return wrap(to - run.first, size_) < run.count;
  }

 private:
  static constexpr unsigned odd_digits = 0xAAAAAAAA;
  [[nodiscard]] bool is_bine() const { return distances_ == Distances::bine; }
  [[nodiscard]] unsigned mask() const { return static_cast<unsigned>(size_) - 1; }
  /// An odd place as it is, and an even one with the other sign: a step takes x to a constant less x in either case.
  [[nodiscard]] int mirrored(int place) const { return place % 2 == 0 ? wrap(-place, size_) : place; }
  /// The digits of a place in base -2. The constant of a step has ones up to that of the step, which the step changes.
  [[nodiscard]] unsigned negabinary(int place) const {
    return ((static_cast<unsigned>(place) + odd_digits) ^ odd_digits) & mask();
  }

  Distances distances_;
  int size_;
};

/// A place below a power of two `size` with its binary digits in the other order.
[[nodiscard]] constexpr int reversed_bits(int i, int size) {
  int reversed = 0;
  for (int bit = 1; bit < size; bit *= 2) reversed = 2 * reversed + ((i & bit) != 0 ? 1 : 0);
  return reversed;
}

}  // namespace tutti::schedules
