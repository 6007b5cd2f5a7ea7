// SPDX-License-Identifier: BSD-3-Clause
#include "blas.hpp"

#include <cblas.h>

#include <cstdlib>

#if defined(__GNUC__)
// Present in OpenBLAS only; other libraries leave it null. Its header declares it too, hence the attribute alone here.
extern "C" void openblas_set_num_threads(int) __attribute__((weak));
#endif

namespace tutti::miniapps {

namespace {

bool set_threads(int threads) {
#if defined(__GNUC__)
  if (&openblas_set_num_threads != nullptr) {
    openblas_set_num_threads(threads);
    return true;
  }
#endif
  return false;
}

struct OneThread {
  OneThread() {
    if (std::getenv("OPENBLAS_NUM_THREADS") == nullptr) {
      set_threads(1);
    }
  }
};

void once() { static const OneThread applied; }

int dimension(std::size_t n) { return static_cast<int>(n); }

}  // namespace

bool set_blas_threads(int threads) {
  once();
  return set_threads(threads);
}

void matmul_nt(const float* x, const float* w, float* y, std::size_t n, std::size_t in, std::size_t out) {
  once();
  const int k = dimension(in);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, dimension(n), dimension(out), k, 1.0F, x, k, w, k, 0.0F, y,
              dimension(out));
}

void matmul_tn(const float* dz, const float* x, float* dw, std::size_t n, std::size_t in, std::size_t out) {
  once();
  const int k = dimension(in);
  cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, dimension(out), k, dimension(n), 1.0F, dz, dimension(out), x, k,
              0.0F, dw, k);
}

void matmul_nn(const float* dz, const float* w, float* dx, std::size_t n, std::size_t in, std::size_t out) {
  once();
  const int k = dimension(in);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, dimension(n), k, dimension(out), 1.0F, dz, dimension(out), w,
              k, 0.0F, dx, k);
}

void matmul_nt(const double* x, const double* w, double* y, std::size_t n, std::size_t in, std::size_t out) {
  once();
  const int k = dimension(in);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, dimension(n), dimension(out), k, 1.0, x, k, w, k, 0.0, y,
              dimension(out));
}

void matmul_tn(const double* dz, const double* x, double* dw, std::size_t n, std::size_t in, std::size_t out) {
  once();
  const int k = dimension(in);
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, dimension(out), k, dimension(n), 1.0, dz, dimension(out), x, k,
              0.0, dw, k);
}

void matmul_nn(const double* dz, const double* w, double* dx, std::size_t n, std::size_t in, std::size_t out) {
  once();
  const int k = dimension(in);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, dimension(n), k, dimension(out), 1.0, dz, dimension(out), w, k,
              0.0, dx, k);
}

}  // namespace tutti::miniapps
