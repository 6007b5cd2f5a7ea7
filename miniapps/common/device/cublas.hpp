// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <tutti/float_types.hpp>

#include "array.hpp"
#include "common/mlp_engine.hpp"
#include "cublas_lt.hpp"
#include "cublas_table.hpp"

namespace tutti::miniapps::device {

/// How products of float32 are made.
enum class Float32Products { exact, tf32 };

/// Products of row-major matrices in device memory, in stream order; sums are float32. One thread at a time; everything
/// is on the stream it was made with, and may be captured. Throws Error(cuda) with cuBLAS' status.
class Cublas {
 public:
  /// On the current device. Allocates: made before communication begins.
  Cublas(StreamHandle stream, Float32Products products);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  /// y[n][out] = x[n][in] * w[out][in]^T
  template <typename Operand, typename Result>
  void nt(const Operand* x, const Operand* w, Result* y, std::size_t n, std::size_t in, std::size_t out) {
    multiply({w, type_of<Operand>(), in, true}, {x, type_of<Operand>(), in, false}, {y, type_of<Result>(), out}, out, n,
             in);
  }
  /// y[n][out] = activation(x[n][in] * w[out][in]^T + b) of a layer, in one launch; b may be null. False, and y is
  /// undefined, where that is not to be had: see CublasLt, which also says when it waits; and with a sigmoid.
  template <typename Operand, typename Result>
  [[nodiscard]] bool dense(const Operand* x, const Operand* w, const Result* b, Result* y, std::size_t n,
                           const DenseLayer& layer) {
    if (!lt_ || layer.activation == Activation::sigmoid) return false;
    const CublasLt::Product product{
        n, layer.in, layer.out, type_of<Operand>(), type_of<Result>(), compute_of(type_of<Operand>())};
    return lt_->multiply({x, w, b, y, product, layer.activation == Activation::relu});
  }
  /// dw[out][in] = dz[n][out]^T * x[n][in]
  template <typename Operand, typename Result>
  void tn(const Operand* dz, const Operand* x, Result* dw, std::size_t n, std::size_t in, std::size_t out) {
    multiply({x, type_of<Operand>(), in, false}, {dz, type_of<Operand>(), out, true}, {dw, type_of<Result>(), in}, in,
             out, n);
  }
  /// dx[n][in] = dz[n][out] * w[out][in]
  template <typename Operand, typename Result>
  void nn(const Operand* dz, const Operand* w, Result* dx, std::size_t n, std::size_t in, std::size_t out) {
    multiply({w, type_of<Operand>(), in, false}, {dz, type_of<Operand>(), out, false}, {dx, type_of<Result>(), in}, in,
             n, out);
  }

 private:
  struct Operand {
    const void* data;
    CublasData type;
    std::size_t stride;
    bool transposed;
  };
  struct Result {
    void* data;
    CublasData type;
    std::size_t stride;
  };
  template <typename T>
  static constexpr CublasData type_of();
  [[nodiscard]] CublasCompute compute_of(CublasData operands) const;
  /// result = a * b, of columns: m x n, over k.
  void multiply(const Operand& a, const Operand& b, const Result& result, std::size_t m, std::size_t n, std::size_t k);

  const CublasTable* table_;
  CublasHandle handle_ = nullptr;
  Float32Products products_;
  Array<std::byte> workspace_;
  std::optional<CublasLt> lt_;
};

template <>
constexpr CublasData Cublas::type_of<float>() {
  return cublas_float32;
}
template <>
constexpr CublasData Cublas::type_of<bfloat16_t>() {
  return cublas_bfloat16;
}

}  // namespace tutti::miniapps::device
