// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "common/mlp.hpp"

namespace tutti::kernelbench {

/// Products that a --type of the command line asks for. Throws std::invalid_argument where this build or processor has
/// none.
[[nodiscard]] miniapps::Products products_named(const std::string& type);

/// c = a b^T for a of m x k and b of n x k values, which are small whole numbers, so that c is exact in any order: in
/// float32 by the BLAS; in bfloat16 by a dense layer of oneDNN, which rounds a at each product.
class Product {
 public:
  Product(std::size_t m, std::size_t n, std::size_t k, const std::string& type);

  void run();
  /// Throws std::runtime_error if an element of a sample is wrong.
  void verify() const;
  [[nodiscard]] double operations() const;
  /// Of a, b and c, each once.
  [[nodiscard]] double bytes() const;

 private:
  std::size_t m_;
  std::size_t n_;
  std::size_t k_;
  std::size_t value_bytes_;
  std::vector<float> a_;
  std::vector<float> b_;
  std::vector<float> c_{};
  std::unique_ptr<miniapps::Mlp> layer_{};
  const float* result_ = nullptr;
};

}  // namespace tutti::kernelbench
