// SPDX-License-Identifier: BSD-3-Clause
// What the stand-ins of cuBLAS and cublasLt share.
#pragma once

#include <cstddef>
#include <tutti/float_types.hpp>

#include "support/standin/cublas.hpp"

namespace tutti::standin::cublas {

using namespace miniapps::device;

constexpr auto invalid_value = static_cast<CublasStatus>(7);
constexpr auto not_supported = static_cast<CublasStatus>(15);

struct Process {
  Runtime* runtime = nullptr;
  CublasOptions options;
  std::size_t products = 0;
  std::size_t products_lt = 0;
  std::size_t choices = 0;
  int handles = 0;
  CublasCompute last_compute = cublas_compute_32f;
};

Process& process();

bool is_on_device(const void* address);

/// A matrix by columns.
struct Matrix {
  const void* data;
  CublasData type;
  std::size_t stride;
  bool transposed;

  [[nodiscard]] float at(std::size_t row, std::size_t column) const {
    const std::size_t i = transposed ? row * stride + column : column * stride + row;
    return type == cublas_float32 ? static_cast<const float*>(data)[i]
                                  : static_cast<float>(static_cast<const bfloat16_t*>(data)[i]);
  }
};

/// c = epilogue(factor * a * b)
struct Product {
  Matrix a;
  Matrix b;
  void* c;
  CublasData c_type;
  std::size_t c_stride;
  std::size_t m;
  std::size_t n;
  std::size_t k;
  float factor = 1;
  CublasLtEpilogue epilogue = cublas_lt_nothing;
  const void* bias = nullptr;
  bool relu_keeps_nan = true;

  void run() const;

 private:
  [[nodiscard]] float finished(float sum, std::size_t row) const;
};

CublasLtTable lt_functions();

}  // namespace tutti::standin::cublas
