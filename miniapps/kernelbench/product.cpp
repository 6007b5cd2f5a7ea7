// SPDX-License-Identifier: BSD-3-Clause
#include "product.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

#include "common/blas/multiply.hpp"

namespace tutti::kernelbench {
namespace {

using miniapps::Products;

/// From -1 to 1.
float value_at(std::size_t row, std::size_t column) { return static_cast<float>((row + 2 * column) % 3) - 1; }

std::vector<float> matrix(std::size_t rows, std::size_t columns) {
  std::vector<float> values;
  values.reserve(rows * columns);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) values.push_back(value_at(r, c));
  return values;
}

}  // namespace

Products products_named(const std::string& type) {
  if (type == "float32") return Products::automatic;
  const std::string missing = miniapps::lacks(Products::onednn_bf16);
  if (!missing.empty()) throw std::invalid_argument("--type bfloat16: " + missing);
  return Products::onednn_bf16;
}

Product::Product(std::size_t m, std::size_t n, std::size_t k, const std::string& type)
    : m_(m), n_(n), k_(k), value_bytes_(type == "float32" ? 4 : 2), a_(matrix(m, k)), b_(matrix(n, k)) {
  if (type == "float32") {
    c_.resize(m * n);
    result_ = c_.data();
    return;
  }
  const std::array widths{k, n};
  layer_ = std::make_unique<miniapps::Mlp>(widths, miniapps::Activation::identity, products_named(type));
  std::copy(b_.begin(), b_.end(), layer_->layer_parameters(0).begin());
  layer_->keep_parameters(true);
}

void Product::run() {
  if (layer_)
    result_ = layer_->forward(a_, m_).data();
  else
    miniapps::multiply(m_, n_, k_, {a_.data(), k_}, {b_.data(), k_, true}, c_.data());
}

void Product::verify() const {
  constexpr std::size_t most_samples = 64;
  const std::size_t samples = std::min(m_ * n_, most_samples);
  for (std::size_t s = 0; s < samples; ++s) {
    const std::size_t at = samples == 1 ? 0 : s * (m_ * n_ - 1) / (samples - 1);
    float wanted = 0;
    for (std::size_t i = 0; i < k_; ++i) wanted += value_at(at / n_, i) * value_at(at % n_, i);
    if (result_[at] != wanted)
      throw std::runtime_error("gemm: element " + std::to_string(at) + " is " + std::to_string(result_[at]) +
                               " instead of " + std::to_string(wanted) + "; the BLAS or oneDNN is broken");
  }
}

double Product::operations() const { return 2 * static_cast<double>(m_ * n_) * static_cast<double>(k_); }

double Product::bytes() const {
  return static_cast<double>(value_bytes_ * (m_ * k_ + n_ * k_)) + static_cast<double>(4 * m_ * n_);
}

}  // namespace tutti::kernelbench
