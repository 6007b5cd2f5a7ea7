// SPDX-License-Identifier: BSD-3-Clause
#include "cublas_lt.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <tutti/device.hpp>
#include <tutti/error.hpp>
#include <utility>

#include "dense_kernels.hpp"

namespace tutti::miniapps::device {

namespace {

std::uint32_t alignment_of(const void* address) {
  constexpr std::uintptr_t most = 256;
  const auto value = reinterpret_cast<std::uintptr_t>(address) | most;
  return static_cast<std::uint32_t>(value & (~value + 1));
}

CublasLtEpilogue epilogue_of(const CublasLt::Layer& layer) {
  if (layer.b == nullptr) return layer.relu ? cublas_lt_relu : cublas_lt_nothing;
  return layer.relu ? cublas_lt_add_bias_relu : cublas_lt_add_bias;
}

bool has_relu(CublasLtEpilogue epilogue) { return (epilogue & cublas_lt_relu) != 0; }

/// What an algorithm may rely on.
class Limits {
 public:
  explicit Limits(const CublasLtTable& table) : table_(&table) {
    check_cublas(table.create_limits(&limits_), "cublasLtMatmulPreferenceCreate");
  }
  ~Limits() { table_->destroy_limits(limits_); }
  Limits(const Limits&) = delete;
  Limits& operator=(const Limits&) = delete;

  template <typename Value>
  void set(CublasLtLimit limit, Value value) {
    check_cublas(table_->set_limit(limits_, limit, &value, sizeof value), "cublasLtMatmulPreferenceSetAttribute");
  }
  [[nodiscard]] CublasLtLimits get() const { return limits_; }

 private:
  const CublasLtTable* table_;
  CublasLtLimits limits_ = nullptr;
};

}  // namespace

void check_cublas(CublasStatus status, const char* what) {
  if (status != cublas_success) {
    throw Error(ErrorCode::cuda, std::string(what) + " failed with status " + std::to_string(status) +
                                     " (cublasStatus_t): the device may be out of memory or in an error state");
  }
}

CublasLt::Plan::~Plan() {
  if (product != nullptr) table->destroy_product(product);
  for (const CublasLtLayout layout : {w, x, y}) {
    if (layout != nullptr) table->destroy_layout(layout);
  }
}

CublasLt::CublasLt(const CublasLtTable& table, StreamHandle stream, std::span<std::byte> workspace)
    : table_(&table), stream_(stream), workspace_(workspace), found_(1), found_on_host_(1) {
  check_cublas(table_->create(&handle_), "cublasLtCreate");
}

CublasLt::~CublasLt() {
  plans_.clear();
  table_->destroy(handle_);
}

CublasLt::Shape CublasLt::shape_of(const Layer& layer) {
  return {layer.n,
          layer.in,
          layer.out,
          layer.operands,
          layer.result,
          layer.compute,
          epilogue_of(layer),
          alignment_of(layer.x),
          alignment_of(layer.w),
          alignment_of(layer.b),
          alignment_of(layer.y)};
}

/// By columns, as cublasLt's matrices are: y^T = w * x^T, whose rows are a layer's outputs.
void CublasLt::describe(Plan& plan, const Shape& shape) const {
  const auto layout = [&](CublasLtLayout& made, CublasData type, std::size_t rows, std::size_t columns) {
    check_cublas(table_->create_layout(&made, type, rows, columns, static_cast<std::int64_t>(rows)),
                 "cublasLtMatrixLayoutCreate");
  };
  layout(plan.w, shape.operands, shape.in, shape.out);
  layout(plan.x, shape.operands, shape.in, shape.n);
  layout(plan.y, shape.result, shape.out, shape.n);
  check_cublas(table_->create_product(&plan.product, shape.compute, cublas_float32), "cublasLtMatmulDescCreate");
  const auto set = [&](CublasLtAttribute attribute, const auto& value) {
    check_cublas(table_->set_product(plan.product, attribute, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
  };
  set(cublas_lt_operation_of_a, cublas_transposed);
  set(cublas_lt_operation_of_b, cublas_plain);
  set(cublas_lt_epilogue, shape.epilogue);
}

bool CublasLt::choose(Plan& plan, const Shape& shape) const {
  Limits limits(*table_);
  limits.set(cublas_lt_most_workspace, std::uint64_t{workspace_.size()});
  limits.set(cublas_lt_alignment_of_a, shape.alignment_of_w);
  limits.set(cublas_lt_alignment_of_b, shape.alignment_of_x);
  limits.set(cublas_lt_alignment_of_c, shape.alignment_of_y);
  limits.set(cublas_lt_alignment_of_d, shape.alignment_of_y);
  CublasLtChoice choice{};
  int choices = 0;
  const CublasStatus status =
      table_->choose(handle_, plan.product, plan.w, plan.x, plan.y, plan.y, limits.get(), 1, &choice, &choices);
  if (status != cublas_success || choices < 1 || choice.status != cublas_success) return false;
  plan.algorithm = choice.algorithm;
  return choice.workspace <= workspace_.size();
}

void CublasLt::set_bias(const Plan& plan, const Layer& layer) const {
  if (layer.b == nullptr) return;
  check_cublas(table_->set_product(plan.product, cublas_lt_bias, &layer.b, sizeof layer.b),
               "cublasLtMatmulDescSetAttribute");
}

void CublasLt::run(const Plan& plan, const Layer& layer, float factor) const {
  constexpr float zero = 0;
  check_cublas(
      table_->multiply(handle_, plan.product, &factor, layer.w, plan.w, layer.x, plan.x, &zero, layer.y, plan.y,
                       layer.y, plan.y, &plan.algorithm, workspace_.data(), workspace_.size(), stream_),
      "cublasLtMatmul");
}

bool CublasLt::keeps_nan(const Plan& plan, const Layer& layer) const {
  const Stream stream{StreamKind::cuda, stream_};
  run(plan, layer, std::numeric_limits<float>::quiet_NaN());
  fill(found_.data(), 1, 0.0F, stream_);
  if (layer.result == cublas_float32) {
    find_number(static_cast<const float*>(layer.y), layer.n * layer.out, found_.data(), stream_);
  } else {
    find_number(static_cast<const bfloat16_t*>(layer.y), layer.n * layer.out, found_.data(), stream_);
  }
  copy_bytes(found_on_host_.data(), found_.data(), found_.bytes(), stream);
  wait_stream(stream);
  return *found_on_host_.data() == 0.0F;
}

void CublasLt::prepare(Plan& plan, const Shape& shape, const Layer& layer) {
  describe(plan, shape);
  // The choice depends on the alignment of the bias that is set.
  set_bias(plan, layer);
  plan.is_usable = choose(plan, shape) && (!has_relu(shape.epilogue) || keeps_nan(plan, layer));
}

bool CublasLt::multiply(const Layer& layer) {
  const Shape shape = shape_of(layer);
  const auto [place, is_new] = plans_.try_emplace(shape, *table_);
  Plan& plan = place->second;
  if (is_new) {
    prepare(plan, shape, layer);
  } else if (plan.is_usable) {
    set_bias(plan, layer);
  }
  if (plan.is_usable) run(plan, layer, 1.0F);
  return plan.is_usable;
}

}  // namespace tutti::miniapps::device
