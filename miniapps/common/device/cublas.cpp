// SPDX-License-Identifier: BSD-3-Clause
#include "cublas.hpp"

#include <limits>
#include <span>
#include <string>
#include <tutti/error.hpp>

namespace tutti::miniapps::device {

namespace {

// What NVIDIA recommends for Hopper; a workspace of our own, since a captured product must not allocate one.
constexpr std::size_t workspace_bytes = std::size_t{32} << 20U;

int dimension(std::size_t n) {
  if (n > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw Error(ErrorCode::invalid_argument, "a matrix of " + std::to_string(n) + " rows or columns is too large");
  }
  return static_cast<int>(n);
}

}  // namespace

Cublas::Cublas(StreamHandle stream, Float32Products products)
    : table_(&cublas_table()), products_(products), workspace_(workspace_bytes) {
  check_cublas(table_->create(&handle_), "cublasCreate");
  try {
    check_cublas(table_->set_stream(handle_, stream), "cublasSetStream");
    check_cublas(table_->set_workspace(handle_, workspace_.data(), workspace_.size()), "cublasSetWorkspace");
    if (table_->lt.create != nullptr) {
      lt_.emplace(table_->lt, stream, std::span(workspace_.data(), workspace_.size()));
    }
  } catch (...) {
    table_->destroy(handle_);
    throw;
  }
}

Cublas::~Cublas() { table_->destroy(handle_); }

void Cublas::multiply(const Operand& a, const Operand& b, const Result& result, std::size_t m, std::size_t n,
                      std::size_t k) {
  constexpr float one = 1;
  constexpr float zero = 0;
  const auto operation = [](const Operand& operand) { return operand.transposed ? cublas_transposed : cublas_plain; };
  check_cublas(table_->gemm(handle_, operation(a), operation(b), dimension(m), dimension(n), dimension(k), &one, a.data,
                            a.type, dimension(a.stride), b.data, b.type, dimension(b.stride), &zero, result.data,
                            result.type, dimension(result.stride), compute_of(a.type), cublas_default_algorithm),
               "cublasGemmEx");
}

CublasCompute Cublas::compute_of(CublasData operands) const {
  const bool tf32 = products_ == Float32Products::tf32 && operands == cublas_float32;
  return tf32 ? cublas_compute_32f_fast_tf32 : cublas_compute_32f;
}

}  // namespace tutti::miniapps::device
