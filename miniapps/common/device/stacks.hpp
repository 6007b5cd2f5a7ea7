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

/// As MlpEngine with Products::onednn_bf16.
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
  void convert_parameters();
  /// A layer's outputs. `biases`: the parameters as values of their type.
  template <typename Y>
  void run_layer(std::size_t layer, const Y* biases, Y* y);
  /// Gradients of a layer's parameters from its deltas_.
  void gradients_of(std::size_t layer);

  DenseBlock<float> block_;
  Cublas* products_;
  StreamHandle stream_;
  Array<bfloat16_t> parameters_;            ///< as the block's
  Array<bfloat16_t> input_;                 ///< [n][in]
  std::vector<Array<bfloat16_t>> outputs_;  ///< [layer][n][out], activated, of all layers but the last
  Array<float> last_;                       ///< [n][out of the last layer], activated
  Array<float> sums_;                       ///< [n][widest out]: before an activation
  Array<bfloat16_t> delta_;                 ///< [n][widest out]
  std::vector<Array<float>> below_;         ///< [layer][n][out], of all layers but the last
  Array<float> partials_;                   ///< of sum_columns()
  std::size_t samples_ = 0;
  bool keeps_ = false;
  bool converted_ = false;
};

}  // namespace tutti::miniapps::device
