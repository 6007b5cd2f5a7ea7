// SPDX-License-Identifier: BSD-3-Clause
#include "support/standin/cublas.hpp"

#include <tutti/float_types.hpp>
#include <utility>

namespace tutti::standin {

namespace {

using namespace miniapps::device;

constexpr auto invalid_value = static_cast<CublasStatus>(7);
constexpr auto not_supported = static_cast<CublasStatus>(15);

struct Handle {
  StreamHandle stream = nullptr;
};

struct Process {
  Runtime* runtime = nullptr;
  std::size_t products = 0;
  int handles = 0;
  CublasCompute last_compute = cublas_compute_32f;
};

Process& process() {
  static Process all;
  return all;
}

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

bool is_on_device(const void* address) { return process().runtime->inspect(address).kind == MemoryKind::device; }

CublasStatus set_workspace(CublasHandle, void* memory, std::size_t) {
  return is_on_device(memory) ? cublas_success : invalid_value;
}

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

struct Product {
  Matrix a;
  Matrix b;
  float* c;
  std::size_t c_stride;
  std::size_t m;
  std::size_t n;
  std::size_t k;

  void run() const {
    for (std::size_t column = 0; column < n; ++column) {
      for (std::size_t row = 0; row < m; ++row) {
        double sum = 0;
        for (std::size_t i = 0; i < k; ++i) sum += static_cast<double>(a.at(row, i)) * b.at(i, column);
        c[column * c_stride + row] = static_cast<float>(sum);
      }
    }
  }
};

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
                        static_cast<float*>(c),
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

Cublas::Cublas(Runtime& runtime) {
  process() = {&runtime, 0, 0, cublas_compute_32f};
  table_ = {create, destroy, get_version, set_stream, set_workspace, gemm};
  replace_cublas_table(&table_);
  replace_host_functions([](StreamHandle stream, std::function<void()> function) {
    process().runtime->run_host(stream, std::move(function));
  });
}

Cublas::~Cublas() {
  replace_cublas_table(nullptr);
  replace_host_functions(nullptr);
}

std::size_t Cublas::products() { return process().products; }
int Cublas::live_handles() { return process().handles; }
CublasCompute Cublas::last_compute() { return process().last_compute; }

}  // namespace tutti::standin
