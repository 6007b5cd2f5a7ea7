// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <tutti/buffer.hpp>
#include <tutti/reduce_op.hpp>
#include <vector>

namespace tutti::process_group {

/// The element type of a tensor. Throws for types that Tutti does not have, such as quantized ones.
[[nodiscard]] Datatype element_type(const at::Tensor& tensor);
/// A buffer of a contiguous tensor, which must outlive it.
[[nodiscard]] Buffer buffer_of(const at::Tensor& tensor);
/// The operation of c10d for tensors of a type; bool has the logical operations, as PyTorch's sums of bool have.
[[nodiscard]] ReduceOp operation_of(const c10d::ReduceOp& op, const at::Tensor& tensor);

/// Throws unless the list has one dense tensor.
at::Tensor& only(std::vector<at::Tensor>& tensors, const char* call);
/// Throws unless all tensors are dense, of one type and on one device.
void check_alike(const std::vector<at::Tensor>& tensors, const at::Tensor& like, const char* call);

/// A contiguous tensor that stands for another in a call: itself, or a copy.
class Contiguous {
 public:
  explicit Contiguous(at::Tensor tensor, bool read = true);
  [[nodiscard]] Buffer buffer() const { return buffer_of(flat_); }
  [[nodiscard]] const at::Tensor& flat() const { return flat_; }
  /// Copies the result back if there is a copy.
  void store();

 private:
  at::Tensor tensor_;
  at::Tensor flat_;
};

/// Tensors of a list as one contiguous block: the block in which they lie one after another, or a copy.
class Block {
 public:
  explicit Block(std::vector<at::Tensor> tensors, bool read);
  [[nodiscard]] Buffer buffer() const { return buffer_of(flat_); }
  [[nodiscard]] const std::vector<std::size_t>& counts() const { return counts_; }
  [[nodiscard]] const std::vector<std::size_t>& places() const { return places_; }
  [[nodiscard]] bool even() const;
  void store();

 private:
  [[nodiscard]] bool adjacent() const;
  std::vector<at::Tensor> tensors_;
  std::vector<std::size_t> counts_;
  std::vector<std::size_t> places_;
  at::Tensor flat_;
  bool copied_ = true;
};

}  // namespace tutti::process_group
