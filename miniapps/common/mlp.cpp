// SPDX-License-Identifier: BSD-3-Clause
#include "mlp.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tutti/error.hpp>

namespace tutti::miniapps {

namespace {

template <typename Float>
void fill_normal(NumpyRandom& random, std::span<Float> values, double deviation) {
  for (Float& value : values) {
    value = static_cast<Float>(random.normal(0.0, deviation));
  }
}

}  // namespace

template <typename Float>
BasicMlp<Float>::BasicMlp(std::span<const std::size_t> widths, Activation last, Products products) {
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
  engine_ = make_mlp_engine<Float>(products, {layers_, parameters_.data(), gradients_.data()});
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
std::span<const Float> BasicMlp<Float>::forward(std::span<const Float> x, std::size_t n) {
  if (x.size() != n * input_width()) {
    throw Error(ErrorCode::invalid_argument, "Mlp::forward: x has " + std::to_string(x.size()) + " values, not " +
                                                 std::to_string(n) + " x " + std::to_string(input_width()));
  }
  samples_ = n;
  return {engine_->forward(x.data(), n), n * output_width()};
}

template <typename Float>
void BasicMlp<Float>::backward(std::span<const Float> x, std::span<Float> output_gradient,
                               std::span<Float> input_gradient, const std::function<void(std::size_t)>& layer_done) {
  const std::size_t n = samples_;
  if (output_gradient.size() != n * output_width() || x.size() != n * input_width() ||
      (!input_gradient.empty() && input_gradient.size() != x.size())) {
    throw Error(ErrorCode::invalid_argument, "Mlp::backward: sizes differ from those of the last forward");
  }
  engine_->backward(x.data(), output_gradient.data(), input_gradient.empty() ? nullptr : input_gradient.data(),
                    layer_done);
}

template <typename Float>
std::span<Float> BasicMlp<Float>::layer_parameters(std::size_t layer) {
  return {parameters_.data() + layers_.at(layer).offset, layers_[layer].parameters()};
}

template <typename Float>
std::span<Float> BasicMlp<Float>::layer_gradients(std::size_t layer) {
  return {gradients_.data() + layers_.at(layer).offset, layers_[layer].parameters()};
}

template class BasicMlp<float>;
template class BasicMlp<double>;

}  // namespace tutti::miniapps
