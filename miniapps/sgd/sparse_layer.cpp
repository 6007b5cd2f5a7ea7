// SPDX-License-Identifier: BSD-3-Clause
#include "sparse_layer.hpp"

#include <algorithm>

namespace sgd {

template <typename Float>
SparseLayer<Float>::SparseLayer(std::size_t in, std::size_t out, bool relu)
    : in_(in),
      out_(out),
      relu_(relu),
      weights_(in * out),
      bias_(out),
      weight_gradient_(in * out),
      bias_gradient_(out) {}

template <typename Float>
std::span<Float> SparseLayer<Float>::forward(const Rows& rows) {
  output_.resize(rows.size() * out_);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Float* __restrict y = output_.data() + i * out_;
    std::copy(bias_.begin(), bias_.end(), y);
    for (std::size_t e = rows.offsets[i]; e < rows.offsets[i + 1]; ++e) {
      const Float* __restrict w = weights_.data() + rows.columns[e] * out_;
      const auto x = static_cast<Float>(rows.values[e]);
      for (std::size_t j = 0; j < out_; ++j) {
        y[j] += x * w[j];
      }
    }
    for (std::size_t j = 0; relu_ && j < out_; ++j) {
      y[j] = std::max(y[j], Float{0});
    }
  }
  return output_;
}

template <typename Float>
void SparseLayer<Float>::backward(const Rows& rows, std::span<Float> output_gradient) {
  std::fill(weight_gradient_.begin(), weight_gradient_.end(), Float{0});
  std::fill(bias_gradient_.begin(), bias_gradient_.end(), Float{0});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Float* __restrict d = output_gradient.data() + i * out_;
    for (std::size_t j = 0; j < out_; ++j) {
      d[j] = relu_ && !(output_[i * out_ + j] > 0) ? Float{0} : d[j];
      bias_gradient_[j] += d[j];
    }
    for (std::size_t e = rows.offsets[i]; e < rows.offsets[i + 1]; ++e) {
      Float* __restrict g = weight_gradient_.data() + rows.columns[e] * out_;
      const auto x = static_cast<Float>(rows.values[e]);
      for (std::size_t j = 0; j < out_; ++j) {
        g[j] += x * d[j];
      }
    }
  }
}

template class SparseLayer<float>;
template class SparseLayer<double>;

}  // namespace sgd
