// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/device/cublas_table.hpp"
#include "support/standin/runtime.hpp"

namespace tutti::standin {

struct CublasOptions {
  bool has_lt = true;          ///< its cublasLt is there
  bool describes_lt = true;    ///< cublasLt takes the shapes
  bool finds_lt = true;        ///< cublasLt finds algorithms
  bool relu_keeps_nan = true;  ///< as a ReLU of cublasLt may or may not
};

/// A stand-in for cuBLAS and cublasLt, for tests of what calls them: products on the host, as work of the stand-in
/// streams. It refuses what cuBLAS refuses: sizes, strides and
/// types that do not fit, and memory that is not the device's. An algorithm of cublasLt serves only what it was chosen
/// for: layouts, epilogue, alignments and workspace. It proves nothing about a GPU.
class Cublas {
 public:
  explicit Cublas(Runtime& runtime, const CublasOptions& options = {});
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  /// Products so far, those of cublasLt included.
  [[nodiscard]] static std::size_t products();
  [[nodiscard]] static std::size_t products_lt();
  /// Algorithms that cublasLt was asked for.
  [[nodiscard]] static std::size_t choices();
  /// Handles and descriptions made and not destroyed.
  [[nodiscard]] static int live_handles();
  /// The compute type of the last product.
  [[nodiscard]] static miniapps::device::CublasCompute last_compute();

 private:
  miniapps::device::CublasTable table_;
};

}  // namespace tutti::standin
