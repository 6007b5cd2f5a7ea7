// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <type_traits>
#include <vector>

#include "training/hooks/low_rank.hpp"

namespace tutti::training {

/// The state of one parameter that PowerSGD keeps from step to step.
template <typename T>
struct Factors {
  Shape shape{};
  std::size_t rank = 0;
  std::vector<T>
      error{};  ///< error of the last step; empty without error feedback. During a step: the compressed values
  std::vector<T> right{};  ///< Q, column by column; zero before the first step

  /// As before the first step.
  void clear() {
    std::fill(error.begin(), error.end(), T(0));
    std::fill(right.begin(), right.end(), T(0));
  }
};

/// The factors of all parameters. They are kept by parameter, so they outlive a change of buckets. Their addresses are
/// stable.
class PowerSgdState {
 public:
  std::uint64_t step = 0;  ///< steps begun

  template <typename T>
  [[nodiscard]] std::map<std::size_t, Factors<T>>& all() {
    if constexpr (std::is_same_v<T, float>)
      return singles_;
    else
      return doubles_;
  }

  /// Finds the factors of a parameter; makes new ones if there are none or they do not fit.
  template <typename T>
  [[nodiscard]] Factors<T>& find_or_make(std::size_t parameter, Shape shape, std::size_t rank, bool with_error);

  [[nodiscard]] std::vector<std::byte> save() const;
  /// Replaces the contents of the existing factors. Throws Error(invalid_argument), and changes nothing, if the saved
  /// ones belong to other parameters or shapes.
  void load(std::span<const std::byte> bytes);

 private:
  std::map<std::size_t, Factors<float>> singles_{};
  std::map<std::size_t, Factors<double>> doubles_{};
};

}  // namespace tutti::training
