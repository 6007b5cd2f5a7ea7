// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

/// Matrix products of the BLAS, by one thread.
namespace tutti::miniapps {

/// A row-major matrix, [.][columns] in memory, as it is or transposed.
template <typename Float>
struct Factor {
  const Float* values;
  std::size_t columns;
  bool is_transposed = false;
};

/// product[rows][columns] = a * b, with `inner` products for each element, which overwrites what was there. Local;
/// blocking; all memory is the host's and the caller's, and the product overlaps no factor. Sizes are those of an int
/// at most, and the caller's to check. A BLAS with threads of its own has one from the first product on, unless
/// OPENBLAS_NUM_THREADS is set. Counterpart: cblas_sgemm, cblas_dgemm.
void multiply(std::size_t rows, std::size_t columns, std::size_t inner, const Factor<float>& a, const Factor<float>& b,
              float* product);
void multiply(std::size_t rows, std::size_t columns, std::size_t inner, const Factor<double>& a,
              const Factor<double>& b, double* product);

}  // namespace tutti::miniapps
