// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "mlp.hpp"

namespace tutti::miniapps::device {

/// BasicCrossNetwork on a device, as stacks are: parameters, gradients and all that it is given are in device memory.
class CrossNetwork {
 public:
  /// `shape.block` has BasicCrossNetwork::maps().
  CrossNetwork(const StackShape& shape, bool operands_are_bfloat16, Cublas& products, StreamHandle stream);

  /// As BasicCrossNetwork.
  void forward(const float* x, std::size_t n, float* output);
  void backward(const float* x, float* output_gradient, float* input_gradient);
  void keep_parameters(bool keep);

 private:
  StreamHandle stream_;
  std::size_t width_;
  std::size_t samples_ = 0;
  std::vector<std::unique_ptr<MlpEngine<float>>> layers_;
  std::vector<const float*> mapped_;  ///< [layer][n][width]
  std::vector<Array<float>> inputs_;  ///< [layer - 1][n][width]
  Array<float> delta_;                ///< [n][width]
  Array<float> below_;                ///< [n][width]
};

}  // namespace tutti::miniapps::device
