// SPDX-License-Identifier: BSD-3-Clause
#include "dense_kernels.hpp"
#include "stacks.hpp"

namespace tutti::miniapps::device {

Float32Stack::Float32Stack(const StackShape& shape, Cublas& products, StreamHandle stream)
    : block_(shape.block), products_(&products), stream_(stream), partials_(column_sum_parts * block_.widest_output()) {
  for (const DenseLayer& layer : block_.layers) {
    outputs_.emplace_back(shape.max_samples * layer.out);
    deltas_.emplace_back(&layer == &block_.layers.back() ? 0 : shape.max_samples * layer.out);
  }
}

const float* Float32Stack::forward(const float* x, std::size_t n) {
  samples_ = n;
  const float* input = x;
  for (std::size_t l = 0; n > 0 && l < outputs_.size(); ++l) {
    const DenseLayer& layer = block_.layers[l];
    const float* w = block_.parameters + layer.offset;
    float* y = outputs_[l].data();
    const float* b = layer.bias ? w + layer.weights() : nullptr;
    if (!products_->dense(input, w, b, y, n, layer)) {
      products_->nt(input, w, y, n, layer.in, layer.out);
      add_bias(y, b, y, n, layer.out, layer.activation, stream_);
    }
    input = y;
  }
  return outputs_.back().data();
}

void Float32Stack::backward(const float* x, float* output_gradient, float* input_gradient,
                            const std::function<void(std::size_t)>& layer_done) {
  const std::size_t n = samples_;
  float* delta = output_gradient;
  for (std::size_t l = outputs_.size(); l-- > 0;) {
    const DenseLayer& layer = block_.layers[l];
    const float* input = l == 0 ? x : outputs_[l - 1].data();
    float* below = l == 0 ? input_gradient : deltas_[l - 1].data();
    float* dw = block_.gradients + layer.offset;
    if (n == 0) {
      fill(dw, layer.parameters(), 0.0F, stream_);
    } else {
      deactivate(delta, outputs_[l].data(), delta, n * layer.out, layer.activation, stream_);
      products_->tn(delta, input, dw, n, layer.in, layer.out);
      if (layer.bias) {
        sum_columns(delta, partials_.data(), dw + layer.weights(), n, layer.out, stream_);
      }
      if (below != nullptr) {
        products_->nn(delta, block_.parameters + layer.offset, below, n, layer.in, layer.out);
      }
    }
    if (layer_done) {
      layer_done(l);
    }
    delta = below;
  }
}

}  // namespace tutti::miniapps::device
