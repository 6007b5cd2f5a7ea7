// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/device/cublas_table.hpp"
#include "support/standin/runtime.hpp"

namespace tutti::standin {

/// A stand-in for cuBLAS, for tests of what calls it: products on the host, as work of the stand-in streams; so are the
/// kernels of the mini-apps while it lives. It refuses
/// what cuBLAS refuses: sizes, strides and types that do not fit, and memory that is not the device's. It proves
/// nothing about a GPU.
class Cublas {
 public:
  explicit Cublas(Runtime& runtime);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  /// Products so far.
  [[nodiscard]] static std::size_t products();
  /// Handles made and not destroyed.
  [[nodiscard]] static int live_handles();
  /// The compute type of the last product.
  [[nodiscard]] static miniapps::device::CublasCompute last_compute();

 private:
  miniapps::device::CublasTable table_;
};

}  // namespace tutti::standin
