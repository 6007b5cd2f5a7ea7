// SPDX-License-Identifier: BSD-3-Clause
#include "tensors.hpp"

#include <algorithm>
#include <tutti/error.hpp>

namespace tutti::process_group {

Datatype element_type(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kBool:
      return DatatypeKind::logical8;
    case at::kChar:
      return DatatypeKind::int8;
    case at::kByte:
      return DatatypeKind::uint8;
    case at::kShort:
      return DatatypeKind::int16;
    case at::kUInt16:
      return DatatypeKind::uint16;
    case at::kInt:
      return DatatypeKind::int32;
    case at::kUInt32:
      return DatatypeKind::uint32;
    case at::kLong:
      return DatatypeKind::int64;
    case at::kUInt64:
      return DatatypeKind::uint64;
    case at::kHalf:
      return DatatypeKind::float16;
    case at::kBFloat16:
      return DatatypeKind::bfloat16;
    case at::kFloat:
      return DatatypeKind::float32;
    case at::kDouble:
      return DatatypeKind::float64;
    case at::kComplexFloat:
      return DatatypeKind::complex64;
    case at::kComplexDouble:
      return DatatypeKind::complex128;
    case at::kFloat8_e4m3fn:
      return DatatypeKind::float8_e4m3;
    case at::kFloat8_e5m2:
      return DatatypeKind::float8_e5m2;
    default:
      TORCH_CHECK(false, "tutti: tensors of type ", tensor.scalar_type(),
                  " cannot be sent; view them as a type of the same size, such as uint8");
  }
}

Buffer buffer_of(const at::Tensor& tensor) {
  return {tensor.data_ptr(), tensor.numel(), element_type(tensor),
          tensor.is_cuda() ? MemoryKind::device : MemoryKind::host};
}

namespace {

ReduceOp logical_operation(c10d::ReduceOp::RedOpType op) {
  switch (op) {
    case c10d::ReduceOp::SUM:
    case c10d::ReduceOp::MAX:
    case c10d::ReduceOp::BOR:
      return lor;
    case c10d::ReduceOp::PRODUCT:
    case c10d::ReduceOp::MIN:
    case c10d::ReduceOp::BAND:
      return land;
    case c10d::ReduceOp::BXOR:
      return lxor;
    default:
      TORCH_CHECK(false, "tutti: this operation has no meaning for bool; reduce a float copy of the tensor");
  }
}

double factor_of(const c10d::ReduceOp& op) {
  const auto* supplement = dynamic_cast<const c10d::PreMulSumSupplement*>(op.supplement_.get());
  TORCH_CHECK(supplement != nullptr, "tutti: PREMUL_SUM has no factor; make it by _make_nccl_premul_sum(factor)");
  return supplement->tensor_factor.defined() ? supplement->tensor_factor.item<double>() : supplement->double_factor;
}

}  // namespace

ReduceOp operation_of(const c10d::ReduceOp& op, const at::Tensor& tensor) {
  if (tensor.scalar_type() == at::kBool) return logical_operation(op.op_);
  ReduceOp found = sum;
  switch (op.op_) {
    case c10d::ReduceOp::SUM:
      break;
    case c10d::ReduceOp::AVG:
      found = avg;
      break;
    case c10d::ReduceOp::PRODUCT:
      found = prod;
      break;
    case c10d::ReduceOp::MIN:
      found = min;
      break;
    case c10d::ReduceOp::MAX:
      found = max;
      break;
    case c10d::ReduceOp::BAND:
      found = band;
      break;
    case c10d::ReduceOp::BOR:
      found = bor;
      break;
    case c10d::ReduceOp::BXOR:
      found = bxor;
      break;
    case c10d::ReduceOp::PREMUL_SUM:
      found = ReduceOp::premul_sum(factor_of(op));
      break;
    default:
      TORCH_CHECK(false, "tutti: unknown reduction ", static_cast<int>(op.op_));
  }
  TORCH_CHECK(is_defined(found.kind(), element_type(tensor).kind()), "tutti: cannot use the reduction ",
              reduce_op_name(found.kind()), " with tensors of type ", tensor.scalar_type());
  return found;
}

at::Tensor& only(std::vector<at::Tensor>& tensors, const char* call) {
  TORCH_CHECK(tensors.size() == 1, "tutti: ", call, " takes one tensor, not ", tensors.size());
  TORCH_CHECK(tensors[0].layout() == at::kStrided, "tutti: ", call, " only supports dense tensors");
  return tensors[0];
}

void check_alike(const std::vector<at::Tensor>& tensors, const at::Tensor& like, const char* call) {
  for (const at::Tensor& tensor : tensors) {
    TORCH_CHECK(tensor.layout() == at::kStrided, "tutti: ", call, " only supports dense tensors");
    TORCH_CHECK(tensor.scalar_type() == like.scalar_type(), "tutti: ", call, ": Invalid tensor type ",
                tensor.scalar_type(), "; all tensors must have the type ", like.scalar_type());
    TORCH_CHECK(tensor.device().type() == like.device().type(), "tutti: ", call,
                ": tensors are on different devices: ", tensor.device(), " and ", like.device());
  }
}

Contiguous::Contiguous(at::Tensor tensor, bool read)
    : tensor_(std::move(tensor)),
      flat_(tensor_.is_contiguous() ? tensor_
            : read                  ? tensor_.contiguous()
                                    : at::empty_like(tensor_, at::MemoryFormat::Contiguous)) {}

void Contiguous::store() {
  if (!flat_.is_same(tensor_)) tensor_.copy_(flat_);
}

Block::Block(std::vector<at::Tensor> tensors, bool read) : tensors_(std::move(tensors)) {
  std::size_t place = 0;
  for (const at::Tensor& tensor : tensors_) {
    counts_.push_back(static_cast<std::size_t>(tensor.numel()));
    places_.push_back(place);
    place += counts_.back();
  }
  copied_ = !adjacent();
  const auto size = static_cast<std::int64_t>(place);
  if (!copied_) {
    flat_ = tensors_[0].as_strided({size}, {1});
    return;
  }
  flat_ = at::empty({size}, tensors_[0].options());
  if (!read) return;
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    flat_.narrow(0, static_cast<std::int64_t>(places_[i]), tensors_[i].numel())
        .view(tensors_[i].sizes())
        .copy_(tensors_[i]);
}

bool Block::adjacent() const {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const at::Tensor& tensor = tensors_[i];
    if (!tensor.is_contiguous() || !tensor.storage().is_alias_of(tensors_[0].storage())) return false;
    if (tensor.storage_offset() != tensors_[0].storage_offset() + static_cast<std::int64_t>(places_[i])) return false;
  }
  return true;
}

bool Block::even() const {
  return std::all_of(counts_.begin(), counts_.end(), [&](std::size_t count) { return count == counts_[0]; });
}

void Block::store() {
  if (!copied_) return;
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    tensors_[i].copy_(
        flat_.narrow(0, static_cast<std::int64_t>(places_[i]), tensors_[i].numel()).view(tensors_[i].sizes()));
}

}  // namespace tutti::process_group
