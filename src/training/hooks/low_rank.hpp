// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

/// The arithmetic of PowerSGD on row-major matrices of float or double. A factor is stored column by column: `rank`
/// runs of `rows` values (left, P) or of `cols` values (right, Q). Every loop has one fixed order, so the result
/// depends on the data alone, bit for bit.
namespace tutti::training {

struct Shape {
  std::size_t rows = 0;
  std::size_t cols = 0;
};

/// left = matrix * right, after matrix += addend if there is an addend.
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

/// Makes the columns orthogonal to one another and of length 1, by modified Gram-Schmidt, repeated for a column that
/// loses more than half of its length. A column that depends on the ones before it becomes rounding noise of length 1,
/// or zero.
template <typename T>
void orthogonalize(T* columns, std::size_t length, std::size_t rank);

/// Fills the columns that are zero with numbers in (-1, 1) that depend only on `seed` and on their place.
template <typename T>
void fill_zero_columns(T* columns, std::size_t length, std::size_t rank, std::uint64_t seed);

}  // namespace tutti::training
