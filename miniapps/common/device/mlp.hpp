// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "array.hpp"
#include "common/mlp_engine.hpp"
#include "cublas.hpp"

namespace tutti::miniapps::device {

/// A stack of dense layers on a device: its parameters, gradients and all that it is given are in device memory, and
/// every call is in the order of the stream, returns at once and may be captured.
struct StackShape {
  DenseBlock<float> block;      ///< parameters and gradients in device memory
  std::size_t max_samples = 0;  ///< of a forward; all memory is taken beforehand
};

/// `operands_are_bfloat16`: activations, their gradients and weights are rounded to bfloat16 as operands of a product;
/// sums, gradients of weights, the weights kept and what the stack takes and gives stay float32; a product that adds
/// the bias itself (Cublas::dense) takes the bias of a hidden layer rounded too. The products outlive the stack.
[[nodiscard]] std::unique_ptr<MlpEngine<float>> make_stack(const StackShape& shape, bool operands_are_bfloat16,
                                                           Cublas& products, StreamHandle stream);

}  // namespace tutti::miniapps::device
