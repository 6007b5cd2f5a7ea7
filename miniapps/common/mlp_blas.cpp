// SPDX-License-Identifier: BSD-3-Clause
#include "mlp_blas.hpp"

#include <algorithm>

#include "activations.hpp"
#include "blas/multiply.hpp"

namespace tutti::miniapps {

template <typename Float>
BlasMlpEngine<Float>::BlasMlpEngine(const DenseBlock<Float>& block)
    : block_(block),
      outputs_(block.layers.size()),
      deltas_(block.layers.size() - 1),
      unused_sums_(block.widest_output()) {}

template <typename Float>
void BlasMlpEngine<Float>::reserve(std::size_t n) {
  for (std::size_t l = 0; l < outputs_.size(); ++l) {
    const std::size_t size = n * block_.layers[l].out;
    if (outputs_[l].size() >= size) {
      continue;
    }
    outputs_[l].resize(size);
    if (l < deltas_.size()) {
      deltas_[l].resize(size);
    }
  }
}

template <typename Float>
const Float* BlasMlpEngine<Float>::forward(const Float* x, std::size_t n) {
  reserve(n);
  samples_ = n;
  const Float* input = x;
  for (std::size_t l = 0; n > 0 && l < outputs_.size(); ++l) {
    const DenseLayer& layer = block_.layers[l];
    const Float* w = block_.parameters + layer.offset;
    multiply(n, layer.out, layer.in, {input, layer.in}, {w, layer.in, true}, outputs_[l].data());
    if (layer.bias) {
      add_bias(outputs_[l].data(), w + layer.weights(), n, layer.out);
    }
    activate(outputs_[l].data(), n * layer.out, layer.activation);
    input = outputs_[l].data();
  }
  return outputs_.back().data();
}

template <typename Float>
void BlasMlpEngine<Float>::backward(const Float* x, Float* output_gradient, Float* input_gradient,
                                    const std::function<void(std::size_t)>& layer_done) {
  const std::size_t n = samples_;
  Float* delta = output_gradient;
  for (std::size_t l = outputs_.size(); l-- > 0;) {
    const DenseLayer& layer = block_.layers[l];
    const Float* input = l == 0 ? x : outputs_[l - 1].data();
    Float* below = l == 0 ? input_gradient : deltas_[l - 1].data();
    Float* dw = block_.gradients + layer.offset;
    Float* db = layer.bias ? dw + layer.weights() : unused_sums_.data();
    deactivate_and_sum(delta, outputs_[l].data(), db, n, layer.out, layer.activation);
    if (n == 0) {
      std::fill(dw, dw + layer.weights(), Float{0});
    } else {
      multiply(layer.out, layer.in, n, {delta, layer.out, true}, {input, layer.in}, dw);
    }
    if (layer_done) {
      layer_done(l);
    }
    if (n > 0 && below != nullptr) {
      const Float* w = block_.parameters + layer.offset;
      multiply(n, layer.in, layer.out, {delta, layer.out}, {w, layer.in}, below);
    }
    delta = below;
  }
}

template class BlasMlpEngine<float>;
template class BlasMlpEngine<double>;

}  // namespace tutti::miniapps
