// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mlp.hpp"

namespace tutti::miniapps::device {

class Float32Stack final : public MlpEngine<float> {
 public:
  Float32Stack(const StackShape& shape, Cublas& products, StreamHandle stream);

  const float* forward(const float* x, std::size_t n) override;
  void backward(const float* x, float* output_gradient, float* input_gradient,
                const std::function<void(std::size_t)>& layer_done) override;

 private:
  DenseBlock<float> block_;
  Cublas* products_;
  StreamHandle stream_;
  std::vector<Array<float>> outputs_;  ///< [layer][n][out], activated
  std::vector<Array<float>> deltas_;   ///< [layer][n][out], of all layers but the last
  Array<float> partials_;              ///< of sum_columns()
  std::size_t samples_ = 0;
};

/// As MlpEngine with Products::onednn_bf16. The rows of the input and of the first layer's weights have a multiple of
/// 16 bytes, without which cuBLAS has slow kernels only.
class Bfloat16Stack final : public MlpEngine<float> {
 public:
  Bfloat16Stack(const StackShape& shape, Cublas& products, StreamHandle stream);

  const float* forward(const float* x, std::size_t n) override;
  void backward(const float* x, float* output_gradient, float* input_gradient,
                const std::function<void(std::size_t)>& layer_done) override;
  void keep_parameters(bool keep) override;

 private:
  [[nodiscard]] const bfloat16_t* input_of(std::size_t layer) const {
    return layer == 0 ? input_.data() : outputs_[layer - 1].data();
  }
  [[nodiscard]] const bfloat16_t* weights_of(std::size_t layer) const {
    return layer == 0 && has_gaps() ? first_weights_.data() : parameters_.data() + block_.layers[layer].offset;
  }
  /// Between the rows of the first layer's weights.
  [[nodiscard]] bool has_gaps() const { return first_weights_.size() > 0; }
  /// Values from one row of a layer's weights, and of its input, to the next.
  [[nodiscard]] std::size_t stride_of(std::size_t layer) const;
  void convert_parameters();
  /// A layer's outputs. `biases`: the parameters as values of their type.
  template <typename Y>
  void run_layer(std::size_t layer, const Y* biases, Y* y);
  /// Gradients of a layer's parameters from its deltas_.
  void gradients_of(std::size_t layer);
  /// And of its input.
  void gradient_below(std::size_t layer, float* below);

  DenseBlock<float> block_;
  Cublas* products_;
  StreamHandle stream_;
  Array<bfloat16_t> parameters_;            ///< as the block's
  Array<bfloat16_t> first_weights_;         ///< [out][stride] of the first layer, where that is not [out][in]
  Array<float> first_gradient_;             ///< as first_weights_
  Array<bfloat16_t> input_;                 ///< [n][stride]
  std::vector<Array<bfloat16_t>> outputs_;  ///< [layer][n][out], activated, of all layers but the last
  Array<float> last_;                       ///< [n][out of the last layer], activated
  Array<float> sums_;                ///< [n][widest out]: before an activation; [n][stride]: the input's gradient
  Array<bfloat16_t> delta_;          ///< [n][widest out]
  std::vector<Array<float>> below_;  ///< [layer][n][out], of all layers but the last
  Array<float> partials_;            ///< of sum_columns()
  std::size_t samples_ = 0;
  bool keeps_ = false;
  bool converted_ = false;
};

}  // namespace tutti::miniapps::device
