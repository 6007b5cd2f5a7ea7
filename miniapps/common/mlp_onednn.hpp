// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <tutti/float_types.hpp>
#include <vector>

#include "mlp_engine.hpp"
#include "onednn_layer.hpp"

namespace tutti::miniapps {

/// Products by oneDNN; `Value` is what activations, their gradients and weights are as operands, float or bfloat16_t.
/// The weights are packed at each forward. Primitives are made once for each number of samples and kept for the last
/// few.
template <typename Value>
class OneDnnMlpEngine final : public MlpEngine<float> {
 public:
  explicit OneDnnMlpEngine(const DenseBlock<float>& block);

  const float* forward(const float* x, std::size_t n) override;
  void backward(const float* x, float* output_gradient, float* input_gradient,
                const std::function<void(std::size_t)>& layer_done) override;
  void keep_parameters(bool keep) override;

 private:
  /// For one number of samples.
  struct Plan {
    std::vector<OneDnnLayer> layers;
    bool packed = false;
  };
  Plan& plan(std::size_t n);
  void reserve(std::size_t n);
  void pack(Plan& plan);
  const Value* operand(const float* values, std::size_t count, std::vector<Value>& rounded);
  const Value* deactivate_last(float* output_gradient);
  void deactivate(std::size_t layer);
  void clear_gradients(const std::function<void(std::size_t)>& layer_done);
  [[nodiscard]] const float* bias(const DenseLayer& layer) const {
    return layer.bias ? block_.parameters + layer.offset + layer.weights() : no_bias_.data();
  }
  [[nodiscard]] float* bias_gradient(const DenseLayer& layer) {
    return layer.bias ? block_.gradients + layer.offset + layer.weights() : unused_sums_.data();
  }

  DenseBlock<float> block_;
  std::map<std::size_t, Plan> plans_;
  bool keep_parameters_ = false;
  std::size_t samples_ = 0;
  const Value* input_ = nullptr;             ///< of the last forward
  std::vector<Value> rounded_input_;         ///< [n][in], where Value is not float
  std::vector<Value> rounded_gradient_;      ///< [n][out], of the last layer, where Value is not float
  std::vector<float> no_bias_;               ///< zeros
  std::vector<float> unused_sums_;           ///< where a layer has no bias
  std::vector<float> result_;                ///< [n][out] of the last layer
  std::vector<std::vector<Value>> outputs_;  ///< [layer][n][out], activated, of all layers but the last
  std::vector<std::vector<Value>> deltas_;   ///< as outputs_: their gradients
};

extern template class OneDnnMlpEngine<float>;
extern template class OneDnnMlpEngine<bfloat16_t>;

}  // namespace tutti::miniapps
