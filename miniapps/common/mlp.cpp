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
void add_bias_activate(float* y, const float* b, std::size_t n, std::size_t width, Activation activation) {
  for (std::size_t i = 0; i < n; ++i, y += width) {
    if (activation == Activation::relu) {
      for (std::size_t j = 0; j < width; ++j) {
        const float z = y[j] + b[j];
        y[j] = z < 0.0F ? 0.0F : z;
      }
      continue;
    }
    for (std::size_t j = 0; j < width; ++j) {
      y[j] += b[j];
      if (activation == Activation::sigmoid) {
        y[j] = 1.0F / (1.0F + std::exp(-y[j]));
      }
    }
  }
}

/// d becomes the gradient before the activation, db its sum over the samples, one pass.
void deactivate_and_sum(float* __restrict d, const float* __restrict y, float* __restrict db, std::size_t n,
                        std::size_t width, Activation activation) {
  std::fill(db, db + width, 0.0F);
  for (std::size_t i = 0; i < n; ++i, d += width, y += width) {
    switch (activation) {
      case Activation::relu:
        for (std::size_t j = 0; j < width; ++j) {
          d[j] = y[j] > 0.0F ? d[j] : 0.0F;
          db[j] += d[j];
        }
        break;
      case Activation::sigmoid:
        for (std::size_t j = 0; j < width; ++j) {
          d[j] *= (1.0F - y[j]) * y[j];
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

}  // namespace

Mlp::Mlp(std::span<const std::size_t> widths, Activation last) {
  if (widths.size() < 2 || std::find(widths.begin(), widths.end(), std::size_t{0}) != widths.end()) {
    throw Error(ErrorCode::invalid_argument, "Mlp: widths must be at least two numbers above 0");
  }
  std::size_t offset = 0;
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    const bool is_last = l + 2 == widths.size();
    layers_.push_back({widths[l], widths[l + 1], offset, is_last ? last : Activation::relu});
    offset += layers_.back().parameters();
  }
  parameters_.assign(offset, 0.0F);
  gradients_.assign(offset, 0.0F);
  outputs_.resize(layers_.size());
  deltas_.resize(layers_.size() - 1);
}

void Mlp::initialize(NumpyRandom& random) {
  for (const Layer& layer : layers_) {
    const std::span<float> all(parameters_.data() + layer.offset, layer.parameters());
    const std::size_t weights = layer.in * layer.out;
    random.fill_normal(all.first(weights), 0.0, std::sqrt(2.0 / static_cast<double>(layer.in + layer.out)));
    random.fill_normal(all.subspan(weights), 0.0, std::sqrt(1.0 / static_cast<double>(layer.out)));
  }
}

void Mlp::reserve(std::size_t n) {
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

std::span<const float> Mlp::forward(std::span<const float> x, std::size_t n) {
  if (x.size() != n * input_width()) {
    throw Error(ErrorCode::invalid_argument, "Mlp::forward: x has " + std::to_string(x.size()) + " values, not " +
                                                 std::to_string(n) + " x " + std::to_string(input_width()));
  }
  reserve(n);
  samples_ = n;
  const float* input = x.data();
  for (std::size_t l = 0; n > 0 && l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    const float* w = parameters_.data() + layer.offset;
    matmul_nt(input, w, outputs_[l].data(), n, layer.in, layer.out);
    add_bias_activate(outputs_[l].data(), w + layer.in * layer.out, n, layer.out, layer.activation);
    input = outputs_[l].data();
  }
  return {outputs_.back().data(), n * output_width()};
}

void Mlp::backward(std::span<const float> x, std::span<float> output_gradient, std::span<float> input_gradient,
                   const std::function<void(std::size_t)>& layer_done) {
  const std::size_t n = samples_;
  if (output_gradient.size() != n * output_width() || x.size() != n * input_width() ||
      (!input_gradient.empty() && input_gradient.size() != x.size())) {
    throw Error(ErrorCode::invalid_argument, "Mlp::backward: sizes differ from those of the last forward");
  }
  float* delta = output_gradient.data();
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const Layer& layer = layers_[l];
    const float* input = l == 0 ? x.data() : outputs_[l - 1].data();
    float* below = l == 0 ? (input_gradient.empty() ? nullptr : input_gradient.data()) : deltas_[l - 1].data();
    float* dw = gradients_.data() + layer.offset;
    deactivate_and_sum(delta, outputs_[l].data(), dw + layer.in * layer.out, n, layer.out, layer.activation);
    if (n == 0) {
      std::fill(dw, dw + layer.in * layer.out, 0.0F);
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

std::span<float> Mlp::layer_parameters(std::size_t layer) {
  return {parameters_.data() + layers_.at(layer).offset, layers_[layer].parameters()};
}

std::span<float> Mlp::layer_gradients(std::size_t layer) {
  return {gradients_.data() + layers_.at(layer).offset, layers_[layer].parameters()};
}

double Mlp::forward_flops(std::size_t n) const {
  double weights = 0;
  for (const Layer& layer : layers_) {
    weights += static_cast<double>(layer.in) * static_cast<double>(layer.out);
  }
  return 2.0 * static_cast<double>(n) * weights;
}

double Mlp::backward_flops(std::size_t n, bool input_gradient) const {
  const double first = static_cast<double>(layers_.front().in) * static_cast<double>(layers_.front().out);
  return 2.0 * forward_flops(n) - (input_gradient ? 0.0 : 2.0 * static_cast<double>(n) * first);
}

}  // namespace tutti::miniapps
