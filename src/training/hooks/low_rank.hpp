// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

/// The arithmetic of PowerSGD on row-major matrices of float or double. A factor is kept column by column: `rank` runs
/// of `rows` values (left, P) or of `cols` values (right, Q). Every loop has one order, so bits depend on the data
/// alone.
namespace tutti::training {

struct Shape {
  std::size_t rows = 0;
  std::size_t cols = 0;
};

/// left = matrix * right. With `addend`, matrix += addend first.
template <typename T>
void multiply_right(Shape shape, T* matrix, const T* addend, const T* right, T* left, std::size_t rank);

/// right = transposed matrix * left.
template <typename T>
void multiply_left(Shape shape, const T* matrix, const T* left, T* right, std::size_t rank);

/// output = scale * left * transposed right.
template <typename T>
void expand(Shape shape, const T* left, const T* right, std::size_t rank, T scale, T* output);

/// matrix -= left * transposed right.
template <typename T>
void subtract_product(Shape shape, const T* left, const T* right, std::size_t rank, T* matrix);

/// Modified Gram-Schmidt, repeated for a column that loses more than half of its length: columns of length 1 that are
/// orthogonal to one another. One that depends on those before it becomes rounding noise of length 1, or zero.
template <typename T>
void orthogonalize(T* columns, std::size_t length, std::size_t rank);

/// Fills the columns that are zero with numbers in (-1, 1) that depend on `seed` and on their place alone.
template <typename T>
void fill_zero_columns(T* columns, std::size_t length, std::size_t rank, std::uint64_t seed);

}  // namespace tutti::training
