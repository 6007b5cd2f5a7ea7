// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rows.hpp"

namespace sgd {

/// A first layer for sparse samples: y = activation(x W + b), with or without relu. W is stored [in][out], so that a
/// feature's weights are together. Its gradient is dense. Local.
template <typename Float>
class SparseLayer {
 public:
  SparseLayer(std::size_t in, std::size_t out, bool relu);

  /// [rows.size()][out]; lives here until the next forward.
  [[nodiscard]] std::span<Float> forward(const Rows& rows);
  /// From the gradient of the result, which is overwritten. Gradients are overwritten, not added to.
  void backward(const Rows& rows, std::span<Float> output_gradient);

  [[nodiscard]] std::size_t in() const { return in_; }
  [[nodiscard]] std::size_t out() const { return out_; }
  [[nodiscard]] std::span<const Float> output() const { return output_; }  ///< of the last forward
  [[nodiscard]] std::span<Float> weights() { return weights_; }
  [[nodiscard]] std::span<Float> bias() { return bias_; }
  [[nodiscard]] std::span<Float> weight_gradient() { return weight_gradient_; }
  [[nodiscard]] std::span<Float> bias_gradient() { return bias_gradient_; }

 private:
  std::size_t in_;
  std::size_t out_;
  bool relu_;
  std::vector<Float> weights_;
  std::vector<Float> bias_;
  std::vector<Float> weight_gradient_;
  std::vector<Float> bias_gradient_;
  std::vector<Float> output_;
};

extern template class SparseLayer<float>;
extern template class SparseLayer<double>;

}  // namespace sgd
