// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <dnnl.hpp>

namespace tutti::miniapps {

/// oneDNN's processor and queue of this process; the first call sets OpenMP to one thread, unless OMP_NUM_THREADS is
/// set, so that the ranks of a node do not oversubscribe it.
[[nodiscard]] const dnnl::engine& onednn_engine();

/// The three products of one dense layer by oneDNN's inner product, for one number of samples and one type of the
/// operands (f32 or bf16). Its weights are a packed copy. All other matrices are row-major and the caller's. Bias and
/// gradient of weights are f32.
class OneDnnLayer {
 public:
  struct Shape {
    std::size_t n;
    std::size_t in;
    std::size_t out;
  };
  struct Types {
    dnnl::memory::data_type operands;
    dnnl::memory::data_type output;          ///< of y
    dnnl::memory::data_type input_gradient;  ///< of dx
  };
  OneDnnLayer(const Shape& shape, const Types& types);

  /// Copies `weights`, f32 (out, in).
  void pack(const float* weights);
  /// y = x W^T + b
  void forward(const void* x, const float* bias, void* y);
  /// dw = dz^T x
  void backward_weights(const void* x, const void* dz, float* dw);
  /// dx = dz W
  void backward_input(const void* dz, void* dx);

 private:
  void prepare_backward_input();

  Shape shape_;
  Types types_;
  dnnl::memory::desc x_;
  dnnl::memory::desc y_;
  dnnl::memory::desc dz_;
  dnnl::memory::desc dx_;
  dnnl::memory::desc dw_;
  dnnl::memory::desc bias_;
  dnnl::memory packed_;           ///< as forward wants it
  dnnl::memory packed_backward_;  ///< as backward_input wants it; the same memory where the layouts are equal
  dnnl::inner_product_forward::primitive_desc forward_description_;
  dnnl::primitive forward_;
  dnnl::primitive backward_weights_;
  dnnl::primitive backward_input_;  ///< made by its first call: a first layer may have none
  dnnl::primitive pack_;
  dnnl::primitive pack_backward_;
};

}  // namespace tutti::miniapps
