// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "common/counter_random.hpp"
#include "source.hpp"

namespace sgd {

enum class Target { number, two_classes, many_classes };

struct GeneratedShape {
  std::uint64_t samples = 0;  ///< to train with; a quarter as many more, at least one, to test with
  std::size_t features = 0;
  std::size_t classes = 2;  ///< of many_classes
  Target target = Target::number;
  double noise = 0;
  std::uint64_t seed = 0;
};

/// Samples drawn from a seed. Features are uniform with mean 0 and deviation 1. A teacher scores them by a linear form
/// of deviation near 1 and noise. The label is the score, or whether it is above 0; for many classes, each class's
/// score has the product of two other forms added, and the label is the class of the largest. Sample k is a pure
/// function of seed and k.
class GeneratedSource : public Source {
 public:
  explicit GeneratedSource(const GeneratedShape& shape);

  [[nodiscard]] std::size_t features() const override { return shape_.features; }
  [[nodiscard]] std::size_t classes() const override;
  [[nodiscard]] bool sparse() const override { return false; }
  [[nodiscard]] std::uint64_t samples(Split split) const override;
  void append(Split split, std::uint64_t k, Rows& rows) const override;
  [[nodiscard]] std::string description() const override;

 private:
  [[nodiscard]] double score(Split split, std::uint64_t k, std::size_t output, const double* x) const;

  GeneratedShape shape_;
  std::size_t outputs_;
  std::size_t forms_;            ///< of an output: 1 or 3
  std::vector<double> teacher_;  ///< [outputs][forms][features]
};

}  // namespace sgd
