// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <random>

#include "common/zipf.hpp"

namespace tutti::kernelbench {

/// Draws rows of a table: all alike often, or by Zipf's law.
class RandomRows {
 public:
  /// exponent 0: all alike. `rows` >= 1.
  RandomRows(std::size_t rows, double exponent, std::uint64_t seed)
      : rows_(rows), exponent_(exponent), zipf_(rows, exponent), generator_(seed) {}

  std::int64_t operator()() {
    if (exponent_ == 0) return static_cast<std::int64_t>(generator_() % rows_);
    return static_cast<std::int64_t>(zipf_([&] { return uniform_(generator_); }));
  }

 private:
  std::uint64_t rows_;
  double exponent_;
  miniapps::Zipf zipf_;
  std::mt19937_64 generator_;
  std::uniform_real_distribution<double> uniform_{0, 1};
};

}  // namespace tutti::kernelbench
