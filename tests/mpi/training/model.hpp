// SPDX-License-Identifier: BSD-3-Clause
// A model of some parameters whose gradients are known functions of rank, step and place.
#pragma once

#include <cmath>
#include <tutti/tutti.hpp>
#include <vector>

namespace tutti::test {

template <typename T>
class Model {
 public:
  using Shapes = std::vector<std::vector<std::size_t>>;

  /// With `own` the gradients are in the model's memory, else in buckets.
  Model(Shapes shapes, bool own) : shapes_(std::move(shapes)), own_(own) {
    for (std::size_t p = 0; p < shapes_.size(); ++p) {
      std::size_t count = 1;
      for (const std::size_t extent : shapes_[p]) count *= extent;
      values_.emplace_back(count);
      gradients_.emplace_back(count);
      for (std::size_t i = 0; i < count; ++i) values_[p][i] = static_cast<T>(std::cos(static_cast<double>(i + 3 * p)));
    }
  }

  void add_to(GradientReducer& reducer) {
    for (std::size_t p = 0; p < shapes_.size(); ++p)
      (void)reducer.add({"p" + std::to_string(p), shapes_[p], datatype_of<T>().kind(), values_[p].data(),
                         own_ ? gradients_[p].data() : nullptr});
  }

  /// Multiples of 1/64 below 16: sums over a few ranks, in any order, are exact.
  static T gradient_of(int rank, unsigned step, std::size_t p, std::size_t i) {
    const auto mixed =
        static_cast<unsigned>(i * 2654435761U + p * 40503U + step * 97U + static_cast<unsigned>(rank) * 7U);
    return static_cast<T>(static_cast<int>(mixed >> 4 & 2047U) - 1024) / T(64);
  }

  /// Computes all gradients but one and marks them ready.
  void backward(GradientReducer& reducer, int rank, unsigned step, std::size_t skip = ~std::size_t{0}) {
    for (std::size_t p = shapes_.size(); p-- > 0;) {
      const std::size_t q = (p + 2) % shapes_.size();  // another order than that of registration
      if (q == skip) continue;
      T* to = static_cast<T*>(reducer.gradient(q).data);
      for (std::size_t i = 0; i < values_[q].size(); ++i) to[i] = gradient_of(rank, step, q, i);
      reducer.ready(q);
    }
  }

  [[nodiscard]] std::vector<std::vector<T>>& values() { return values_; }
  [[nodiscard]] std::size_t count(std::size_t p) const { return values_[p].size(); }
  [[nodiscard]] std::size_t parameters() const { return shapes_.size(); }

 private:
  Shapes shapes_;
  bool own_;
  std::vector<std::vector<T>> values_{};
  std::vector<std::vector<T>> gradients_{};
};

}  // namespace tutti::test
