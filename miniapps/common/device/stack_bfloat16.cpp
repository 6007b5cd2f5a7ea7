// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "dense_kernels.hpp"
#include "stacks.hpp"

namespace tutti::miniapps::device {

namespace {

std::size_t parameters_of(const DenseBlock<float>& block) {
  return block.layers.back().offset + block.layers.back().parameters();
}

}  // namespace

Bfloat16Stack::Bfloat16Stack(const StackShape& shape, Cublas& products, StreamHandle stream)
    : block_(shape.block),
      products_(&products),
      stream_(stream),
      parameters_(parameters_of(block_)),
      input_(shape.max_samples * stride_of(0)),
      last_(shape.max_samples * block_.layers.back().out),
      sums_(shape.max_samples * std::max(block_.widest_output(), stride_of(0))),
      delta_(shape.max_samples * block_.widest_output()),
      partials_(column_sum_parts * block_.widest_output()) {
  const DenseLayer& first = block_.layers.front();
  if (stride_of(0) != first.in) {
    first_weights_ = Array<bfloat16_t>(first.out * stride_of(0));
    first_gradient_ = Array<float>(first.out * stride_of(0));
  }
  for (std::size_t l = 0; l + 1 < block_.layers.size(); ++l) {
    outputs_.emplace_back(shape.max_samples * block_.layers[l].out);
    below_.emplace_back(shape.max_samples * block_.layers[l].out);
  }
}

void Bfloat16Stack::keep_parameters(bool keep) {
  keeps_ = keep;
  converted_ = false;
}

std::size_t Bfloat16Stack::stride_of(std::size_t l) const {
  constexpr std::size_t multiple = 16 / sizeof(bfloat16_t);
  const std::size_t in = block_.layers[l].in;
  return l == 0 ? (in + multiple - 1) / multiple * multiple : in;
}

void Bfloat16Stack::convert_parameters() {
  if (!keeps_ || !converted_) {
    const DenseLayer& first = block_.layers.front();
    const float* from = block_.parameters + first.offset;
    const std::size_t apart = has_gaps() ? first.weights() : 0;
    convert(from + apart, parameters_.data() + first.offset + apart, parameters_.size() - first.offset - apart,
            stream_);
    if (has_gaps()) convert_rows(from, first_weights_.data(), first.out, first.in, stride_of(0), stream_);
  }
  converted_ = true;
}

template <typename Y>
void Bfloat16Stack::run_layer(std::size_t l, const Y* biases, Y* y) {
  DenseLayer layer = block_.layers[l];
  const bfloat16_t* w = weights_of(l);
  const std::size_t bias = layer.offset + layer.weights();
  layer.in = stride_of(l);
  if (products_->dense(input_of(l), w, layer.bias ? biases + bias : nullptr, y, samples_, layer)) return;
  products_->nt(input_of(l), w, sums_.data(), samples_, layer.in, layer.out);
  add_bias(sums_.data(), layer.bias ? block_.parameters + bias : nullptr, y, samples_, layer.out, layer.activation,
           stream_);
}

const float* Bfloat16Stack::forward(const float* x, std::size_t n) {
  samples_ = n;
  if (n == 0) return last_.data();
  convert_parameters();
  convert_rows(x, input_.data(), n, block_.layers.front().in, stride_of(0), stream_);
  for (std::size_t l = 0; l < block_.layers.size(); ++l) {
    if (l < outputs_.size()) {
      run_layer(l, parameters_.data(), outputs_[l].data());
    } else {
      run_layer(l, block_.parameters, last_.data());
    }
  }
  return last_.data();
}

void Bfloat16Stack::gradients_of(std::size_t l) {
  const DenseLayer& layer = block_.layers[l];
  float* dw = block_.gradients + layer.offset;
  const bool is_packed = l > 0 || !has_gaps();
  products_->tn(delta_.data(), input_of(l), is_packed ? dw : first_gradient_.data(), samples_, stride_of(l), layer.out);
  if (!is_packed) pack_rows(first_gradient_.data(), dw, layer.out, layer.in, stride_of(l), stream_);
  if (layer.bias) {
    sum_columns(delta_.data(), partials_.data(), dw + layer.weights(), samples_, layer.out, stream_);
  }
}

void Bfloat16Stack::gradient_below(std::size_t l, float* below) {
  const DenseLayer& layer = block_.layers[l];
  const std::size_t stride = stride_of(l);
  float* const product = stride == layer.in ? below : sums_.data();
  products_->nn(delta_.data(), weights_of(l), product, samples_, stride, layer.out);
  if (product != below) pack_rows(product, below, samples_, layer.in, stride, stream_);
}

void Bfloat16Stack::backward(const float* /*x*/, float* output_gradient, float* input_gradient,
                             const std::function<void(std::size_t)>& layer_done) {
  const std::size_t n = samples_;
  const float* d = output_gradient;
  for (std::size_t l = block_.layers.size(); l-- > 0;) {
    const DenseLayer& layer = block_.layers[l];
    float* below = l == 0 ? input_gradient : below_[l - 1].data();
    if (n == 0) {
      fill(block_.gradients + layer.offset, layer.parameters(), 0.0F, stream_);
    } else {
      if (l < outputs_.size()) {
        deactivate(d, outputs_[l].data(), delta_.data(), n * layer.out, layer.activation, stream_);
      } else {
        deactivate(d, last_.data(), delta_.data(), n * layer.out, layer.activation, stream_);
      }
      gradients_of(l);
      if (below != nullptr) {
        gradient_below(l, below);
      }
    }
    if (layer_done) {
      layer_done(l);
    }
    d = below;
  }
}

std::unique_ptr<MlpEngine<float>> make_stack(const StackShape& shape, bool operands_are_bfloat16, Cublas& products,
                                             StreamHandle stream) {
  if (operands_are_bfloat16) {
    return std::make_unique<Bfloat16Stack>(shape, products, stream);
  }
  return std::make_unique<Float32Stack>(shape, products, stream);
}

}  // namespace tutti::miniapps::device
