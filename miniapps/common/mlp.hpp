// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "mlp_engine.hpp"
#include "numpy_random.hpp"

namespace tutti::miniapps {

/// A stack of dense layers, y = activation(x W^T + b), in float or double. All weights and biases are one contiguous
/// block, and so are their gradients: layer 0's W (out, in) row-major, its b, layer 1's W, and so on. Local; nothing
/// here communicates. One thread at a time. After the first step of the largest batch no call allocates memory
/// for matrices.
template <typename Float>
class BasicMlp {
 public:
  using Layer = DenseLayer;

  /// `widths` has the input width, then the output width of each layer (two numbers at least); relu after each layer
  /// but the last. Throws tutti::Error (invalid_argument) for fewer or zero widths, (not_supported) where there are
  /// no such products. Parameters start at zero.
  BasicMlp(std::span<const std::size_t> widths, Activation last, Products products = Products::automatic);

  /// The reference's weights, layer by layer: W normal(0, sqrt(2 / (in + out))), then b normal(0, sqrt(1 / out)).
  void initialize(NumpyRandom& random);

  /// `x` is [n][input_width()]; the result [n][output_width()] lives here until the next forward. n may be 0.
  [[nodiscard]] std::span<const Float> forward(std::span<const Float> x, std::size_t n);

  /// After forward of the same `x`, which must be unchanged. `output_gradient` [n][output_width()] is with respect to
  /// the activated output and is overwritten. `input_gradient` [n][input_width()] is written, or skipped where empty.
  /// Gradients are overwritten, not added to. `layer_done(i)` is called, from the last layer to the first, as soon as
  /// layer_gradients(i) is final, so that its reduction can start.
  void backward(std::span<const Float> x, std::span<Float> output_gradient, std::span<Float> input_gradient,
                const std::function<void(std::size_t)>& layer_done = {});

  /// True promises that the parameters stay as they are until it is called with false, as when only predicting: a
  /// forward may then leave out the conversion of weights.
  void keep_parameters(bool keep) { engine_->keep_parameters(keep); }

  [[nodiscard]] const std::vector<Layer>& layers() const { return layers_; }
  [[nodiscard]] std::size_t input_width() const { return layers_.front().in; }
  [[nodiscard]] std::size_t output_width() const { return layers_.back().out; }
  [[nodiscard]] std::span<Float> parameters() { return parameters_; }
  [[nodiscard]] std::span<const Float> parameters() const { return parameters_; }
  [[nodiscard]] std::span<Float> gradients() { return gradients_; }
  [[nodiscard]] std::span<Float> layer_parameters(std::size_t layer);
  [[nodiscard]] std::span<Float> layer_gradients(std::size_t layer);

 private:
  std::vector<Layer> layers_;
  std::vector<Float> parameters_;
  std::vector<Float> gradients_;
  std::unique_ptr<MlpEngine<Float>> engine_;
  std::size_t samples_ = 0;
};

extern template class BasicMlp<float>;
extern template class BasicMlp<double>;

using Mlp = BasicMlp<float>;

}  // namespace tutti::miniapps
