// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "mlp_engine.hpp"
#include "numpy_random.hpp"

namespace tutti::miniapps {

/// DCNv2's low-rank cross network, x_{l+1} = x_0 * (W_l (V_l x_l) + b_l) + x_l with an elementwise product. All
/// parameters are one contiguous block, and so are their gradients: layer 0's V (rank, width) row-major, its W
/// (width, rank), its b, layer 1's V, and so on. Local. After the first step of the largest batch no call allocates
/// memory for matrices. Source: Wang et al., "DCN V2: Improved Deep & Cross Network", WWW 2021, section 3; counterpart:
/// torchrec's LowRankCrossNet.
template <typename Float>
class BasicCrossNetwork {
 public:
  /// Throws tutti::Error (invalid_argument) for a number that is zero, (not_supported) where there are no such
  /// products. Parameters start at zero.
  BasicCrossNetwork(std::size_t width, std::size_t rank, std::size_t layers, Products products = Products::automatic);

  /// V and W normal(0, sqrt(2 / (width + rank))), Xavier's; b = 0.
  void initialize(NumpyRandom& random);

  /// `x` and `output` are [n][width], not overlapping. n may be 0.
  void forward(const Float* x, std::size_t n, Float* output);
  /// After forward of the same `x`, which must be unchanged. `output_gradient` is overwritten; `input_gradient`
  /// [n][width] and the gradients of the parameters are written.
  void backward(const Float* x, Float* output_gradient, Float* input_gradient);

  [[nodiscard]] std::size_t width() const { return width_; }
  /// V of layer 0, its W with b, V of layer 1, and so on.
  [[nodiscard]] std::span<const DenseLayer> maps() const { return maps_; }
  [[nodiscard]] std::span<Float> parameters() { return parameters_; }
  [[nodiscard]] std::span<Float> gradients() { return gradients_; }
  /// As BasicMlp::keep_parameters.
  void keep_parameters(bool keep);

 private:
  void reserve(std::size_t n);

  std::size_t width_;
  std::size_t samples_ = 0;
  std::vector<DenseLayer> maps_;  ///< V_0, W_0, V_1, ...
  std::vector<Float> parameters_;
  std::vector<Float> gradients_;
  std::vector<std::unique_ptr<MlpEngine<Float>>> engines_;  ///< [layer]: W (V x) + b
  std::vector<const Float*> mapped_;                        ///< [layer][n][width], results of the engines
  std::vector<std::vector<Float>> inputs_;                  ///< [layer - 1][n][width]: x_1, x_2, ...
  std::vector<Float> delta_;                                ///< [n][width]
  std::vector<Float> below_;                                ///< [n][width]
};

extern template class BasicCrossNetwork<float>;
extern template class BasicCrossNetwork<double>;

using CrossNetwork = BasicCrossNetwork<float>;

}  // namespace tutti::miniapps
