// SPDX-License-Identifier: BSD-3-Clause
#include "support/standin/cublas.hpp"

#include <utility>

#include "support/standin/cublas_state.hpp"

namespace tutti::standin {

namespace cublas {

Process& process() {
  static Process all;
  return all;
}

bool is_on_device(const void* address) { return process().runtime->kind_of(address) == MemoryKind::device; }

float Product::finished(float sum, std::size_t row) const {
  float value = sum;
  if ((epilogue & cublas_lt_add_bias) != 0) value += Matrix{bias, c_type, 0, false}.at(row, 0);
  if ((epilogue & cublas_lt_relu) == 0) return value;
  const bool is_kept = relu_keeps_nan ? !(value <= 0.0F) : value > 0.0F;
  return is_kept ? value : 0.0F;
}

void Product::run() const {
  for (std::size_t column = 0; column < n; ++column) {
    for (std::size_t row = 0; row < m; ++row) {
      double sum = 0;
      for (std::size_t i = 0; i < k; ++i) sum += static_cast<double>(a.at(row, i)) * b.at(i, column);
      const float value = finished(factor * static_cast<float>(sum), row);
      const std::size_t at = column * c_stride + row;
      if (c_type == cublas_float32) {
        static_cast<float*>(c)[at] = value;
      } else {
        static_cast<bfloat16_t*>(c)[at] = bfloat16_t(value);
      }
    }
  }
}

}  // namespace cublas

namespace {

using namespace cublas;

struct Handle {
  StreamHandle stream = nullptr;
};

CublasStatus create(CublasHandle* handle) {
  *handle = new Handle;
  ++process().handles;
  return cublas_success;
}

CublasStatus destroy(CublasHandle handle) {
  delete static_cast<Handle*>(handle);
  --process().handles;
  return cublas_success;
}

CublasStatus get_version(CublasHandle, int* version) {
  *version = 130000;
  return cublas_success;
}

CublasStatus set_stream(CublasHandle handle, StreamHandle stream) {
  static_cast<Handle*>(handle)->stream = stream;
  return cublas_success;
}

CublasStatus set_workspace(CublasHandle, void* memory, std::size_t) {
  return is_on_device(memory) ? cublas_success : invalid_value;
}

bool fits(CublasOperation operation, int rows, int columns, int stride) {
  return stride >= (operation == cublas_plain ? rows : columns);
}

CublasStatus gemm(CublasHandle handle, CublasOperation of_a, CublasOperation of_b, int m, int n, int k,
                  const void* alpha, const void* a, CublasData a_type, int a_stride, const void* b, CublasData b_type,
                  int b_stride, const void* beta, void* c, CublasData c_type, int c_stride, CublasCompute compute,
                  int) {
  if (m <= 0 || n <= 0 || k <= 0 || !fits(of_a, m, k, a_stride) || !fits(of_b, k, n, b_stride) || c_stride < m)
    return invalid_value;
  if (!is_on_device(a) || !is_on_device(b) || !is_on_device(c)) return invalid_value;
  if (a_type != b_type || c_type != cublas_float32 || *static_cast<const float*>(alpha) != 1.0F ||
      *static_cast<const float*>(beta) != 0.0F)
    return not_supported;
  if (compute == cublas_compute_32f_fast_tf32 && a_type != cublas_float32) return not_supported;
  const auto size = [](int value) { return static_cast<std::size_t>(value); };
  const Product product{{a, a_type, size(a_stride), of_a == cublas_transposed},
                        {b, b_type, size(b_stride), of_b == cublas_transposed},
                        c,
                        c_type,
                        size(c_stride),
                        size(m),
                        size(n),
                        size(k)};
  ++process().products;
  process().last_compute = compute;
  process().runtime->run_host(static_cast<Handle*>(handle)->stream, [product] { product.run(); });
  return cublas_success;
}

}  // namespace

Cublas::Cublas(Runtime& runtime, const CublasOptions& options) {
  process() = {.runtime = &runtime, .options = options};
  table_ = {create, destroy, get_version, set_stream, set_workspace, gemm, {}};
  if (options.has_lt) table_.lt = lt_functions();
  replace_cublas_table(&table_);
}

Cublas::~Cublas() { replace_cublas_table(nullptr); }

std::size_t Cublas::products() { return process().products; }
std::size_t Cublas::products_lt() { return process().products_lt; }
std::size_t Cublas::choices() { return process().choices; }
int Cublas::live_handles() { return process().handles; }
CublasCompute Cublas::last_compute() { return process().last_compute; }

}  // namespace tutti::standin
