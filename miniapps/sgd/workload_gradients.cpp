// SPDX-License-Identifier: BSD-3-Clause
#include "workload_gradients.hpp"

#include <algorithm>
#include <cmath>

namespace sgd {

MadeGradients::MadeGradients(const std::vector<Shape>& shapes) {
  for (const Shape& shape : shapes) {
    columns_.push_back(shape.size() < 2 ? elements(shape) : elements(shape) / shape.front());
  }
  pattern_.resize(*std::max_element(columns_.begin(), columns_.end()));
  for (std::size_t c = 0; c < pattern_.size(); ++c) {
    pattern_[c] = static_cast<float>(1 + c % 5);
  }
}

float MadeGradients::factor(std::size_t i, std::size_t row, std::size_t step) const {
  return static_cast<float>((1 + (row + i) % 7) * (1 + step % 3));
}

void MadeGradients::write(std::size_t i, std::size_t begin, std::span<float> target, int rank, std::size_t step) const {
  const std::size_t columns = columns_[i];
  for (std::size_t done = 0; done < target.size();) {
    const std::size_t row = (begin + done) / columns;
    const std::size_t column = (begin + done) % columns;
    const std::size_t count = std::min(columns - column, target.size() - done);
    const float scale = factor(i, row, step) * static_cast<float>(rank + 1);
    std::transform(pattern_.begin() + static_cast<std::ptrdiff_t>(column),
                   pattern_.begin() + static_cast<std::ptrdiff_t>(column + count),
                   target.begin() + static_cast<std::ptrdiff_t>(done), [scale](float x) { return scale * x; });
    done += count;
  }
}

std::size_t MadeGradients::count_wrong(std::size_t i, std::span<const float> averages, int ranks, std::size_t step,
                                       double tolerance) const {
  const std::size_t columns = columns_[i];
  std::size_t wrong = 0;
  for (std::size_t e = 0; e < averages.size(); ++e) {
    const double expected = static_cast<double>(factor(i, e / columns, step) * pattern_[e % columns]) * (ranks + 1) / 2;
    const double difference = std::abs(static_cast<double>(averages[e]) - expected);
    if (!(difference <= tolerance * expected)) ++wrong;
  }
  return wrong;
}

}  // namespace sgd
