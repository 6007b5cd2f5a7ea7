// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "workload_shapes.hpp"

namespace sgd {

/// Made gradients: whole numbers that depend on rank, step, parameter and element, so that sums are exact and every
/// average is known. As matrices of shape[0] rows they have rank 1, which a compression to low rank keeps.
class MadeGradients {
 public:
  explicit MadeGradients(const std::vector<Shape>& shapes);

  /// Writes elements [begin, begin + target.size()) of parameter i, as rank `rank` has them in step `step`.
  void write(std::size_t i, std::size_t begin, std::span<float> target, int rank, std::size_t step) const;
  /// How many elements are not the average over `ranks` ranks, within `tolerance` relative.
  [[nodiscard]] std::size_t count_wrong(std::size_t i, std::span<const float> averages, int ranks, std::size_t step,
                                        double tolerance) const;

 private:
  [[nodiscard]] float factor(std::size_t i, std::size_t row, std::size_t step) const;
  std::vector<std::size_t> columns_;  ///< by parameter
  std::vector<float> pattern_;        ///< of a row, as long as the longest
};

}  // namespace sgd
