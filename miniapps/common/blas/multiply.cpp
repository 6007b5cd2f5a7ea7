// SPDX-License-Identifier: BSD-3-Clause
#include "common/blas/multiply.hpp"

#include <cblas.h>

#include <cstdlib>

#if defined(__GNUC__)
// Present in OpenBLAS only; other libraries leave it null. Its header declares it too, hence the attribute alone here.
extern "C" void openblas_set_num_threads(int) __attribute__((weak));
#endif

namespace tutti::miniapps {
namespace {

/// So that the ranks of a node do not oversubscribe it.
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

int number(std::size_t n) { return static_cast<int>(n); }

template <typename Float>
CBLAS_TRANSPOSE form_of(const Factor<Float>& factor) {
  return factor.is_transposed ? CblasTrans : CblasNoTrans;
}

}  // namespace

void multiply(std::size_t rows, std::size_t columns, std::size_t inner, const Factor<float>& a, const Factor<float>& b,
              float* product) {
  once();
  cblas_sgemm(CblasRowMajor, form_of(a), form_of(b), number(rows), number(columns), number(inner), 1.0F, a.values,
              number(a.columns), b.values, number(b.columns), 0.0F, product, number(columns));
}

void multiply(std::size_t rows, std::size_t columns, std::size_t inner, const Factor<double>& a,
              const Factor<double>& b, double* product) {
  once();
  cblas_dgemm(CblasRowMajor, form_of(a), form_of(b), number(rows), number(columns), number(inner), 1.0, a.values,
              number(a.columns), b.values, number(b.columns), 0.0, product, number(columns));
}

}  // namespace tutti::miniapps
