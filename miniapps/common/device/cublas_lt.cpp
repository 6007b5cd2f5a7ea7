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
    is_set_ = table.create_limits(&limits_) == cublas_success;
  }
  ~Limits() {
    if (limits_ != nullptr) table_->destroy_limits(limits_);
  }
  Limits(const Limits&) = delete;
  Limits& operator=(const Limits&) = delete;

  template <typename Value>
  void set(CublasLtLimit limit, Value value) {
    is_set_ = is_set_ && table_->set_limit(limits_, limit, &value, sizeof value) == cublas_success;
  }
  [[nodiscard]] bool is_set() const { return is_set_; }
  [[nodiscard]] CublasLtLimits get() const { return limits_; }

 private:
  const CublasLtTable* table_;
  CublasLtLimits limits_ = nullptr;
  bool is_set_ = false;
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
  return {layer.product,         epilogue_of(layer),    alignment_of(layer.x),
          alignment_of(layer.w), alignment_of(layer.b), alignment_of(layer.y)};
}

/// By columns, as cublasLt's matrices are: y^T = w * x^T, whose rows are a layer's outputs.
bool CublasLt::describe(Plan& plan, const Shape& shape) const {
  const Product& p = shape.product;
  const auto layout = [&](CublasLtLayout& made, CublasData type, std::size_t rows, std::size_t columns) {
    return table_->create_layout(&made, type, rows, columns, static_cast<std::int64_t>(rows)) == cublas_success;
  };
  const auto set = [&](CublasLtAttribute attribute, const auto& value) {
    return table_->set_product(plan.product, attribute, &value, sizeof value) == cublas_success;
  };
  return layout(plan.w, p.operands, p.in, p.out) && layout(plan.x, p.operands, p.in, p.n) &&
         layout(plan.y, p.result, p.out, p.n) &&
         table_->create_product(&plan.product, p.compute, cublas_float32) == cublas_success &&
         set(cublas_lt_operation_of_a, cublas_transposed) && set(cublas_lt_operation_of_b, cublas_plain) &&
         set(cublas_lt_epilogue, shape.epilogue);
}

bool CublasLt::choose(Plan& plan, const Shape& shape) const {
  Limits limits(*table_);
  limits.set(cublas_lt_most_workspace, std::uint64_t{workspace_.size()});
  limits.set(cublas_lt_alignment_of_a, shape.alignment_of_w);
  limits.set(cublas_lt_alignment_of_b, shape.alignment_of_x);
  limits.set(cublas_lt_alignment_of_c, shape.alignment_of_y);
  limits.set(cublas_lt_alignment_of_d,
             std::min(shape.alignment_of_y, shape.alignment_of_b));  // cublasLt reads the bias by it
  if (!limits.is_set()) return false;
  CublasLtChoice choice{};
  int choices = 0;
  const CublasStatus status =
      table_->choose(handle_, plan.product, plan.w, plan.x, plan.y, plan.y, limits.get(), 1, &choice, &choices);
  if (status != cublas_success || choices < 1 || choice.status != cublas_success) return false;
  plan.algorithm = choice.algorithm;
  return choice.workspace <= workspace_.size();
}

bool CublasLt::set_bias(const Plan& plan, const Layer& layer) const {
  return layer.b == nullptr ||
         table_->set_product(plan.product, cublas_lt_bias, &layer.b, sizeof layer.b) == cublas_success;
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
  const std::size_t values = layer.product.n * layer.product.out;
  if (layer.product.result == cublas_float32) {
    find_number(static_cast<const float*>(layer.y), values, found_.data(), stream_);
  } else {
    find_number(static_cast<const bfloat16_t*>(layer.y), values, found_.data(), stream_);
  }
  copy_bytes(found_on_host_.data(), found_.data(), found_.bytes(), stream);
  wait_stream(stream);
  return *found_on_host_.data() == 0.0F;
}

void CublasLt::prepare(Plan& plan, const Shape& shape, const Layer& layer) {
  // The choice depends on the alignment of the bias that is set.
  plan.is_usable = describe(plan, shape) && set_bias(plan, layer) && choose(plan, shape) &&
                   (!has_relu(shape.epilogue) || keeps_nan(plan, layer));
}

bool CublasLt::multiply(const Layer& layer) {
  const Shape shape = shape_of(layer);
  const auto [place, is_new] = plans_.try_emplace(shape, *table_);
  Plan& plan = place->second;
  if (is_new) {
    prepare(plan, shape, layer);
  } else if (plan.is_usable) {
    plan.is_usable = set_bias(plan, layer);
  }
  if (plan.is_usable) run(plan, layer, 1.0F);
  return plan.is_usable;
}

}  // namespace tutti::miniapps::device
