// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <type_traits>
#include <vector>

#include "training/hooks/low_rank.hpp"

namespace tutti::training {

/// What PowerSGD keeps of one parameter from step to step.
template <typename T>
struct Factors {
  Shape shape{};
  std::size_t rank = 0;
  std::vector<T> error{};  ///< what the last step lost; empty without error feedback. During a step: what is compressed
  std::vector<T> right{};  ///< Q, column by column; zero before the first step
};

/// By parameter, so that it outlives a change of buckets. The addresses of factors are stable.
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

  /// Those of the parameter if they fit, else new ones.
  template <typename T>
  [[nodiscard]] Factors<T>& find_or_make(std::size_t parameter, Shape shape, std::size_t rank, bool with_error);

  [[nodiscard]] std::vector<std::byte> save() const;
  /// Replaces the content of factors that exist; throws Error(invalid_argument), and changes nothing, where the saved
  /// ones are of other parameters or shapes.
  void load(std::span<const std::byte> bytes);

 private:
  std::map<std::size_t, Factors<float>> singles_{};
  std::map<std::size_t, Factors<double>> doubles_{};
};

}  // namespace tutti::training
