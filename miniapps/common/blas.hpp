// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tutti::miniapps {

/// The matrix products of dense layers in fp32 and fp64; all matrices row-major and dense. Local, by the BLAS found at
/// build time. A BLAS with threads of its own is set to one thread at the first product, unless
/// OPENBLAS_NUM_THREADS is set, so that the ranks of a node do not oversubscribe it.
/// y[n][out] = x[n][in] * w[out][in]^T
void matmul_nt(const float* x, const float* w, float* y, std::size_t n, std::size_t in, std::size_t out);
void matmul_nt(const double* x, const double* w, double* y, std::size_t n, std::size_t in, std::size_t out);
/// dw[out][in] = dz[n][out]^T * x[n][in]
void matmul_tn(const float* dz, const float* x, float* dw, std::size_t n, std::size_t in, std::size_t out);
void matmul_tn(const double* dz, const double* x, double* dw, std::size_t n, std::size_t in, std::size_t out);
/// dx[n][in] = dz[n][out] * w[out][in]
void matmul_nn(const float* dz, const float* w, float* dx, std::size_t n, std::size_t in, std::size_t out);
void matmul_nn(const double* dz, const double* w, double* dx, std::size_t n, std::size_t in, std::size_t out);

/// Threads of the BLAS in this process; false where the BLAS has no such setting.
bool set_blas_threads(int threads);

}  // namespace tutti::miniapps
