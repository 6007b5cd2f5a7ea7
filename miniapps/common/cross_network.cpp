// SPDX-License-Identifier: BSD-3-Clause
#include "cross_network.hpp"

#include <algorithm>
#include <cmath>
#include <tutti/error.hpp>

namespace tutti::miniapps {

namespace {

/// y = x0 * z + x
template <typename Float>
void cross(const Float* __restrict x0, const Float* __restrict z, const Float* __restrict x, Float* __restrict y,
           std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    y[i] = x0[i] * z[i] + x[i];
  }
}

/// Backward of y = x0 * z + x by y's gradient g: dz = x0 * g, dx0 += z * g.
template <typename Float>
void uncross(const Float* __restrict x0, const Float* __restrict z, const Float* __restrict g, Float* __restrict dz,
             Float* __restrict dx0, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    dz[i] = x0[i] * g[i];
    dx0[i] += z[i] * g[i];
  }
}

template <typename Float>
void add(Float* __restrict sum, const Float* __restrict values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    sum[i] += values[i];
  }
}

}  // namespace

template <typename Float>
BasicCrossNetwork<Float>::BasicCrossNetwork(std::size_t width, std::size_t rank, std::size_t layers, Products products)
    : width_(width), mapped_(layers), inputs_(layers > 0 ? layers - 1 : 0) {
  if (width == 0 || rank == 0 || layers == 0) {
    throw Error(ErrorCode::invalid_argument, "CrossNetwork: width, rank and layers must be above 0");
  }
  std::size_t offset = 0;
  for (std::size_t l = 0; l < layers; ++l) {
    maps_.push_back({width, rank, offset, Activation::identity, false});
    offset += maps_.back().parameters();
    maps_.push_back({rank, width, offset, Activation::identity});
    offset += maps_.back().parameters();
  }
  parameters_.assign(offset, Float{0});
  gradients_.assign(offset, Float{0});
  for (std::size_t l = 0; l < layers; ++l) {
    engines_.push_back(make_mlp_engine<Float>(
        products, {std::span<const DenseLayer>(maps_).subspan(2 * l, 2), parameters_.data(), gradients_.data()}));
  }
}

template <typename Float>
void BasicCrossNetwork<Float>::initialize(NumpyRandom& random) {
  std::fill(parameters_.begin(), parameters_.end(), Float{0});
  for (const DenseLayer& map : maps_) {
    const double deviation = std::sqrt(2.0 / static_cast<double>(map.in + map.out));
    for (Float& value : std::span(parameters_).subspan(map.offset, map.weights())) {
      value = static_cast<Float>(random.normal(0.0, deviation));
    }
  }
}

template <typename Float>
void BasicCrossNetwork<Float>::reserve(std::size_t n) {
  const auto grow = [&](std::vector<Float>& values) { values.resize(std::max(values.size(), n * width_)); };
  std::for_each(inputs_.begin(), inputs_.end(), grow);
  grow(delta_);
  grow(below_);
}

template <typename Float>
void BasicCrossNetwork<Float>::forward(const Float* x, std::size_t n, Float* output) {
  reserve(n);
  samples_ = n;
  const Float* input = x;
  for (std::size_t l = 0; l < engines_.size(); ++l) {
    Float* next = l + 1 < engines_.size() ? inputs_[l].data() : output;
    mapped_[l] = engines_[l]->forward(input, n);
    cross(x, mapped_[l], input, next, n * width_);
    input = next;
  }
}

template <typename Float>
void BasicCrossNetwork<Float>::backward(const Float* x, Float* output_gradient, Float* input_gradient) {
  const std::size_t count = samples_ * width_;
  std::fill(input_gradient, input_gradient + count, Float{0});
  for (std::size_t l = engines_.size(); l-- > 0;) {
    uncross(x, mapped_[l], output_gradient, delta_.data(), input_gradient, count);
    engines_[l]->backward(l == 0 ? x : inputs_[l - 1].data(), delta_.data(), below_.data(), {});
    add(output_gradient, below_.data(), count);
  }
  add(input_gradient, output_gradient, count);
}

template <typename Float>
void BasicCrossNetwork<Float>::keep_parameters(bool keep) {
  for (const auto& engine : engines_) {
    engine->keep_parameters(keep);
  }
}

template class BasicCrossNetwork<float>;
template class BasicCrossNetwork<double>;

}  // namespace tutti::miniapps
