// SPDX-License-Identifier: BSD-3-Clause
#include "cross_network.hpp"

#include "dense_kernels.hpp"

namespace tutti::miniapps::device {

CrossNetwork::CrossNetwork(const StackShape& shape, bool operands_are_bfloat16, Cublas& products, StreamHandle stream)
    : stream_(stream),
      width_(shape.block.layers.front().in),
      mapped_(shape.block.layers.size() / 2),
      delta_(shape.max_samples * width_),
      below_(shape.max_samples * width_) {
  for (std::size_t l = 0; l < mapped_.size(); ++l) {
    const DenseBlock<float> layer{shape.block.layers.subspan(2 * l, 2), shape.block.parameters, shape.block.gradients};
    layers_.push_back(make_stack({layer, shape.max_samples}, operands_are_bfloat16, products, stream));
    if (l > 0) {
      inputs_.emplace_back(shape.max_samples * width_);
    }
  }
}

void CrossNetwork::forward(const float* x, std::size_t n, float* output) {
  samples_ = n;
  const float* input = x;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    float* next = l + 1 < layers_.size() ? inputs_[l].data() : output;
    mapped_[l] = layers_[l]->forward(input, n);
    cross(x, mapped_[l], input, next, n * width_, stream_);
    input = next;
  }
}

void CrossNetwork::backward(const float* x, float* output_gradient, float* input_gradient) {
  const std::size_t count = samples_ * width_;
  fill(input_gradient, count, 0.0F, stream_);
  for (std::size_t l = layers_.size(); l-- > 0;) {
    uncross(x, mapped_[l], output_gradient, delta_.data(), input_gradient, count, stream_);
    layers_[l]->backward(l == 0 ? x : inputs_[l - 1].data(), delta_.data(), below_.data(), {});
    add(output_gradient, below_.data(), count, stream_);
  }
  add(input_gradient, output_gradient, count, stream_);
}

void CrossNetwork::keep_parameters(bool keep) {
  for (const auto& layer : layers_) {
    layer->keep_parameters(keep);
  }
}

}  // namespace tutti::miniapps::device
