// SPDX-License-Identifier: BSD-3-Clause
#include "mlp_blas.hpp"

#include <cblas.h>

#include <algorithm>
#include <cstdlib>

#include "activations.hpp"

#if defined(__GNUC__)
// Present in OpenBLAS only; other libraries leave it null. Its header declares it too, hence the attribute alone here.
extern "C" void openblas_set_num_threads(int) __attribute__((weak));
#endif

namespace tutti::miniapps {

namespace {

/// A BLAS with threads of its own has one from the first product on, unless OPENBLAS_NUM_THREADS is set, so that the
/// ranks of a node do not oversubscribe it.
struct OneThread {
  OneThread() {
#if defined(__GNUC__)
    if (std::getenv("OPENBLAS_NUM_THREADS") == nullptr && &openblas_set_num_threads != nullptr) {
      openblas_set_num_threads(1);
    }
#endif
  }
};

void once() { static const OneThread applied; }

/// A row-major matrix, [.][columns] in memory, as it is or transposed.
template <typename Float>
struct Factor {
  CBLAS_TRANSPOSE form;
  const Float* values;
  std::size_t columns;
};

/// product[rows][columns] = a * b, with `inner` products for each element.
void multiply(std::size_t rows, std::size_t columns, std::size_t inner, const Factor<float>& a, const Factor<float>& b,
              float* product) {
  once();
  const auto number = [](std::size_t n) { return static_cast<int>(n); };
  cblas_sgemm(CblasRowMajor, a.form, b.form, number(rows), number(columns), number(inner), 1.0F, a.values,
              number(a.columns), b.values, number(b.columns), 0.0F, product, number(columns));
}
void multiply(std::size_t rows, std::size_t columns, std::size_t inner, const Factor<double>& a,
              const Factor<double>& b, double* product) {
  once();
  const auto number = [](std::size_t n) { return static_cast<int>(n); };
  cblas_dgemm(CblasRowMajor, a.form, b.form, number(rows), number(columns), number(inner), 1.0, a.values,
              number(a.columns), b.values, number(b.columns), 0.0, product, number(columns));
}

}  // namespace

template <typename Float>
BlasMlpEngine<Float>::BlasMlpEngine(const DenseBlock<Float>& block)
    : block_(block),
      outputs_(block.layers.size()),
      deltas_(block.layers.size() - 1),
      unused_sums_(block.widest_output()) {}

template <typename Float>
void BlasMlpEngine<Float>::reserve(std::size_t n) {
  for (std::size_t l = 0; l < outputs_.size(); ++l) {
    const std::size_t size = n * block_.layers[l].out;
    if (outputs_[l].size() >= size) {
      continue;
    }
    outputs_[l].resize(size);
    if (l < deltas_.size()) {
      deltas_[l].resize(size);
    }
  }
}

template <typename Float>
const Float* BlasMlpEngine<Float>::forward(const Float* x, std::size_t n) {
  reserve(n);
  samples_ = n;
  const Float* input = x;
  for (std::size_t l = 0; n > 0 && l < outputs_.size(); ++l) {
    const DenseLayer& layer = block_.layers[l];
    const Float* w = block_.parameters + layer.offset;
    multiply(n, layer.out, layer.in, {CblasNoTrans, input, layer.in}, {CblasTrans, w, layer.in}, outputs_[l].data());
    if (layer.bias) {
      add_bias(outputs_[l].data(), w + layer.weights(), n, layer.out);
    }
    activate(outputs_[l].data(), n * layer.out, layer.activation);
    input = outputs_[l].data();
  }
  return outputs_.back().data();
}

template <typename Float>
void BlasMlpEngine<Float>::backward(const Float* x, Float* output_gradient, Float* input_gradient,
                                    const std::function<void(std::size_t)>& layer_done) {
  const std::size_t n = samples_;
  Float* delta = output_gradient;
  for (std::size_t l = outputs_.size(); l-- > 0;) {
    const DenseLayer& layer = block_.layers[l];
    const Float* input = l == 0 ? x : outputs_[l - 1].data();
    Float* below = l == 0 ? input_gradient : deltas_[l - 1].data();
    Float* dw = block_.gradients + layer.offset;
    Float* db = layer.bias ? dw + layer.weights() : unused_sums_.data();
    deactivate_and_sum(delta, outputs_[l].data(), db, n, layer.out, layer.activation);
    if (n == 0) {
      std::fill(dw, dw + layer.weights(), Float{0});
    } else {
      multiply(layer.out, layer.in, n, {CblasTrans, delta, layer.out}, {CblasNoTrans, input, layer.in}, dw);
    }
    if (layer_done) {
      layer_done(l);
    }
    if (n > 0 && below != nullptr) {
      const Float* w = block_.parameters + layer.offset;
      multiply(n, layer.in, layer.out, {CblasNoTrans, delta, layer.out}, {CblasNoTrans, w, layer.in}, below);
    }
    delta = below;
  }
}

template class BlasMlpEngine<float>;
template class BlasMlpEngine<double>;

}  // namespace tutti::miniapps
