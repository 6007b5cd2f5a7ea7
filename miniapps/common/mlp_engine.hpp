// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace tutti::miniapps {

enum class Activation { identity, relu, sigmoid };

/// One dense layer, y = activation(x W^T + b), and where it lies in the block of parameters. Only a last layer may have
/// a sigmoid.
struct DenseLayer {
  std::size_t in;
  std::size_t out;
  std::size_t offset;  ///< of W, (out, in) row-major; b follows at offset + in * out
  Activation activation;
  bool bias = true;
  [[nodiscard]] std::size_t weights() const { return in * out; }
  [[nodiscard]] std::size_t parameters() const { return weights() + (bias ? out : 0); }
};

/// What computes the matrix products of an MLP. `automatic` is oneDNN for float where the program is built with it, and
/// the BLAS otherwise. With onednn_bf16 activations, their gradients and weights are rounded to bfloat16 as operands of
/// a product; sums, gradients of weights, the weights kept and what an MLP takes and gives stay fp32.
enum class Products { automatic, blas, onednn, onednn_bf16 };

/// Why there are no such products here, and the remedy: the program is built without oneDNN, or the processor has none.
/// Empty where there are.
[[nodiscard]] std::string lacks(Products products);

/// Layers with their parameters and gradients, which someone else owns and which outlive what works on them.
template <typename Float>
struct DenseBlock {
  std::span<const DenseLayer> layers;
  const Float* parameters;
  Float* gradients;

  [[nodiscard]] std::size_t widest_output() const {
    std::size_t widest = 0;
    for (const DenseLayer& layer : layers) {
      widest = std::max(widest, layer.out);
    }
    return widest;
  }
};

/// The arithmetic of a stack of dense layers. Local. Sizes are the caller's to check. After the first step of the
/// largest batch no call allocates memory for matrices.
template <typename Float>
class MlpEngine {
 public:
  MlpEngine() = default;
  MlpEngine(const MlpEngine&) = delete;
  MlpEngine& operator=(const MlpEngine&) = delete;
  virtual ~MlpEngine() = default;

  /// `x` is [n][in of the first layer]; the result, [n][out of the last], lives here until the next forward.
  [[nodiscard]] virtual const Float* forward(const Float* x, std::size_t n) = 0;
  /// As BasicMlp::backward, for the samples of the last forward; `input_gradient` may be null.
  virtual void backward(const Float* x, Float* output_gradient, Float* input_gradient,
                        const std::function<void(std::size_t)>& layer_done) = 0;
  /// True promises that the parameters stay as they are until it is called with false: an engine may then convert them
  /// once instead of at each forward.
  virtual void keep_parameters(bool keep) { (void)keep; }
};

/// Throws tutti::Error (not_supported) where `products` needs oneDNN and the program is built without it, or where
/// there is none for this type.
template <typename Float>
[[nodiscard]] std::unique_ptr<MlpEngine<Float>> make_mlp_engine(Products products, const DenseBlock<Float>& block);

}  // namespace tutti::miniapps
