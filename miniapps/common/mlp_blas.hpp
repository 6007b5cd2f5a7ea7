// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "mlp_engine.hpp"

namespace tutti::miniapps {

/// Products by the BLAS, one thread.
template <typename Float>
class BlasMlpEngine final : public MlpEngine<Float> {
 public:
  explicit BlasMlpEngine(const DenseBlock<Float>& block);

  const Float* forward(const Float* x, std::size_t n) override;
  void backward(const Float* x, Float* output_gradient, Float* input_gradient,
                const std::function<void(std::size_t)>& layer_done) override;

 private:
  void reserve(std::size_t n);

  DenseBlock<Float> block_;
  std::vector<std::vector<Float>> outputs_;  ///< [layer][n][out], activated
  std::vector<std::vector<Float>> deltas_;   ///< [layer][n][out], gradient of outputs_, for all layers but the last
  std::vector<Float> unused_sums_;           ///< where a layer has no bias
  std::size_t samples_ = 0;
};

extern template class BlasMlpEngine<float>;
extern template class BlasMlpEngine<double>;

}  // namespace tutti::miniapps
