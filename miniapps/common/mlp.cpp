// SPDX-License-Identifier: BSD-3-Clause
#include "mlp.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tutti/error.hpp>

#include "blas.hpp"

namespace tutti::miniapps {

namespace {

/// y = activation(y + b), one pass.
template <typename Float>
void add_bias_activate(Float* y, const Float* b, std::size_t n, std::size_t width, Activation activation) {
  for (std::size_t i = 0; i < n; ++i, y += width) {
    if (activation == Activation::relu) {
      for (std::size_t j = 0; j < width; ++j) {
        const Float z = y[j] + b[j];
        y[j] = z < Float{0} ? Float{0} : z;
      }
      continue;
    }
    for (std::size_t j = 0; j < width; ++j) {
      y[j] += b[j];
      if (activation == Activation::sigmoid) {
        y[j] = Float{1} / (Float{1} + std::exp(-y[j]));
      }
    }
  }
}

/// d becomes the gradient before the activation, db its sum over the samples, one pass.
template <typename Float>
void deactivate_and_sum(Float* __restrict d, const Float* __restrict y, Float* __restrict db, std::size_t n,
                        std::size_t width, Activation activation) {
  std::fill(db, db + width, Float{0});
  for (std::size_t i = 0; i < n; ++i, d += width, y += width) {
    switch (activation) {
      case Activation::relu:
        for (std::size_t j = 0; j < width; ++j) {
          d[j] = y[j] > Float{0} ? d[j] : Float{0};
          db[j] += d[j];
        }
        break;
      case Activation::sigmoid:
        for (std::size_t j = 0; j < width; ++j) {
          d[j] *= (Float{1} - y[j]) * y[j];
          db[j] += d[j];
        }
        break;
      case Activation::identity:
        for (std::size_t j = 0; j < width; ++j) {
          db[j] += d[j];
        }
        break;
    }
  }
}

template <typename Float>
void fill_normal(NumpyRandom& random, std::span<Float> values, double deviation) {
  for (Float& value : values) {
    value = static_cast<Float>(random.normal(0.0, deviation));
  }
}

}  // namespace

template <typename Float>
BasicMlp<Float>::BasicMlp(std::span<const std::size_t> widths, Activation last) {
  if (widths.size() < 2 || std::find(widths.begin(), widths.end(), std::size_t{0}) != widths.end()) {
    throw Error(ErrorCode::invalid_argument, "Mlp: widths must be at least two numbers above 0");
  }
  std::size_t offset = 0;
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    const bool is_last = l + 2 == widths.size();
    layers_.push_back({widths[l], widths[l + 1], offset, is_last ? last : Activation::relu});
    offset += layers_.back().parameters();
  }
  parameters_.assign(offset, Float{0});
  gradients_.assign(offset, Float{0});
  outputs_.resize(layers_.size());
  deltas_.resize(layers_.size() - 1);
}

template <typename Float>
void BasicMlp<Float>::initialize(NumpyRandom& random) {
  for (const Layer& layer : layers_) {
    const std::span<Float> all(parameters_.data() + layer.offset, layer.parameters());
    const std::size_t weights = layer.in * layer.out;
    fill_normal(random, all.first(weights), std::sqrt(2.0 / static_cast<double>(layer.in + layer.out)));
    fill_normal(random, all.subspan(weights), std::sqrt(1.0 / static_cast<double>(layer.out)));
  }
}

template <typename Float>
void BasicMlp<Float>::reserve(std::size_t n) {
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const std::size_t size = n * layers_[l].out;
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
std::span<const Float> BasicMlp<Float>::forward(std::span<const Float> x, std::size_t n) {
  if (x.size() != n * input_width()) {
    throw Error(ErrorCode::invalid_argument, "Mlp::forward: x has " + std::to_string(x.size()) + " values, not " +
                                                 std::to_string(n) + " x " + std::to_string(input_width()));
  }
  reserve(n);
  samples_ = n;
  const Float* input = x.data();
  for (std::size_t l = 0; n > 0 && l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    const Float* w = parameters_.data() + layer.offset;
    matmul_nt(input, w, outputs_[l].data(), n, layer.in, layer.out);
    add_bias_activate(outputs_[l].data(), w + layer.in * layer.out, n, layer.out, layer.activation);
    input = outputs_[l].data();
  }
  return {outputs_.back().data(), n * output_width()};
}

template <typename Float>
void BasicMlp<Float>::backward(std::span<const Float> x, std::span<Float> output_gradient,
                               std::span<Float> input_gradient, const std::function<void(std::size_t)>& layer_done) {
  const std::size_t n = samples_;
  if (output_gradient.size() != n * output_width() || x.size() != n * input_width() ||
      (!input_gradient.empty() && input_gradient.size() != x.size())) {
    throw Error(ErrorCode::invalid_argument, "Mlp::backward: sizes differ from those of the last forward");
  }
  Float* delta = output_gradient.data();
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const Layer& layer = layers_[l];
    const Float* input = l == 0 ? x.data() : outputs_[l - 1].data();
    Float* below = l == 0 ? (input_gradient.empty() ? nullptr : input_gradient.data()) : deltas_[l - 1].data();
    Float* dw = gradients_.data() + layer.offset;
    deactivate_and_sum(delta, outputs_[l].data(), dw + layer.in * layer.out, n, layer.out, layer.activation);
    if (n == 0) {
      std::fill(dw, dw + layer.in * layer.out, Float{0});
    } else {
      matmul_tn(delta, input, dw, n, layer.in, layer.out);
    }
    if (layer_done) {
      layer_done(l);
    }
    if (n > 0 && below != nullptr) {
      matmul_nn(delta, parameters_.data() + layer.offset, below, n, layer.in, layer.out);
    }
    delta = below;
  }
}

template <typename Float>
std::span<Float> BasicMlp<Float>::layer_parameters(std::size_t layer) {
  return {parameters_.data() + layers_.at(layer).offset, layers_[layer].parameters()};
}

template <typename Float>
std::span<Float> BasicMlp<Float>::layer_gradients(std::size_t layer) {
  return {gradients_.data() + layers_.at(layer).offset, layers_[layer].parameters()};
}

template <typename Float>
double BasicMlp<Float>::forward_flops(std::size_t n) const {
  double weights = 0;
  for (const Layer& layer : layers_) {
    weights += static_cast<double>(layer.in) * static_cast<double>(layer.out);
  }
  return 2.0 * static_cast<double>(n) * weights;
}

template <typename Float>
double BasicMlp<Float>::backward_flops(std::size_t n, bool input_gradient) const {
  const double first = static_cast<double>(layers_.front().in) * static_cast<double>(layers_.front().out);
  return 2.0 * forward_flops(n) - (input_gradient ? 0.0 : 2.0 * static_cast<double>(n) * first);
}

template class BasicMlp<float>;
template class BasicMlp<double>;

}  // namespace tutti::miniapps
