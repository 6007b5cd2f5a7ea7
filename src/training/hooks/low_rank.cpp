// SPDX-License-Identifier: BSD-3-Clause
#include "training/hooks/low_rank.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "collectives/services.hpp"

namespace tutti::training {

namespace {

template <typename T>
struct VectorOf {
  using Type [[gnu::vector_size(64)]] = T;
  static constexpr std::size_t lanes = 64 / sizeof(T);
};

template <typename Vector, typename T>
inline void load(Vector& to, const T* from) {
  std::memcpy(&to, from, sizeof to);
}
template <typename Vector, typename T>
inline void store(T* to, const Vector& from) {
  std::memcpy(to, &from, sizeof from);
}

/// Calls body(Columns, first) for groups of 4, 2 and 1 columns.
template <typename Body>
inline void for_each_group(std::size_t rank, const Body& body) {
  std::size_t first = 0;
  for (; first + 4 <= rank; first += 4) body.template operator()<4>(first);
  if (first + 2 <= rank) {
    body.template operator()<2>(first);
    first += 2;
  }
  if (first < rank) body.template operator()<1>(first);
}

template <std::size_t Columns, typename T>
inline void dot_row(const T* row, const T* right, std::size_t cols, T* left, std::size_t rows) {
  using Vector = typename VectorOf<T>::Type;
  constexpr std::size_t lanes = VectorOf<T>::lanes;
  Vector sums[Columns] = {};
  const std::size_t whole = cols - cols % lanes;
  for (std::size_t j = 0; j < whole; j += lanes) {
    Vector x;
    load(x, row + j);
    for (std::size_t c = 0; c < Columns; ++c) {
      Vector y;
      load(y, right + c * cols + j);
      sums[c] += x * y;
    }
  }
  for (std::size_t c = 0; c < Columns; ++c) {
    T total = 0;
    for (std::size_t k = 0; k < lanes; ++k) total += sums[c][k];
    for (std::size_t j = whole; j < cols; ++j) total += row[j] * right[c * cols + j];
    left[c * rows] = total;
  }
}

/// right[c] += the sum of row * weight over `Rows` rows, which begin at `matrix` and have their weights in `left`.
template <std::size_t Columns, std::size_t Rows, typename T>
inline void add_rows(Shape shape, const T* matrix, const T* left, T* right) {
  using Vector = typename VectorOf<T>::Type;
  constexpr std::size_t lanes = VectorOf<T>::lanes;
  const std::size_t whole = shape.cols - shape.cols % lanes;
  for (std::size_t j = 0; j < whole; j += lanes) {
    Vector x[Rows];
    for (std::size_t i = 0; i < Rows; ++i) load(x[i], matrix + i * shape.cols + j);
    for (std::size_t c = 0; c < Columns; ++c) {
      Vector sum;
      load(sum, right + c * shape.cols + j);
      for (std::size_t i = 0; i < Rows; ++i) sum += x[i] * left[c * shape.rows + i];
      store(right + c * shape.cols + j, sum);
    }
  }
  for (std::size_t j = whole; j < shape.cols; ++j)
    for (std::size_t c = 0; c < Columns; ++c)
      for (std::size_t i = 0; i < Rows; ++i)
        right[c * shape.cols + j] += matrix[i * shape.cols + j] * left[c * shape.rows + i];
}

/// row += the sum of weight * column over the columns.
template <std::size_t Columns, typename T>
inline void add_columns(const T* weights, const T* right, std::size_t cols, T* row) {
  using Vector = typename VectorOf<T>::Type;
  constexpr std::size_t lanes = VectorOf<T>::lanes;
  const std::size_t whole = cols - cols % lanes;
  for (std::size_t j = 0; j < whole; j += lanes) {
    Vector sum;
    load(sum, row + j);
    for (std::size_t c = 0; c < Columns; ++c) {
      Vector x;
      load(x, right + c * cols + j);
      sum += x * weights[c];
    }
    store(row + j, sum);
  }
  for (std::size_t j = whole; j < cols; ++j)
    for (std::size_t c = 0; c < Columns; ++c) row[j] += weights[c] * right[c * cols + j];
}

constexpr double max_double = std::numeric_limits<double>::max();

template <typename T>
double dot(const T* a, const T* b, std::size_t count) {
  constexpr std::size_t lanes = 8;
  double sums[lanes] = {};
  const std::size_t whole = count - count % lanes;
  for (std::size_t i = 0; i < whole; i += lanes)
    for (std::size_t k = 0; k < lanes; ++k) sums[k] += static_cast<double>(a[i + k]) * static_cast<double>(b[i + k]);
  for (std::size_t i = whole; i < count; ++i) sums[i - whole] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

template <typename T>
void subtract_part_along(T* column, const T* direction, std::size_t length) {
  const T part = static_cast<T>(dot(column, direction, length));
  for (std::size_t i = 0; i < length; ++i) column[i] -= part * direction[i];
}

/// Subtracts from column `index` its parts along the columns before it; returns the squared length that is left.
template <typename T>
double make_orthogonal(T* columns, std::size_t length, std::size_t index) {
  constexpr int passes = 4;
  T* column = columns + index * length;
  double before = dot(column, column, length);
  for (int pass = 0; index > 0 && pass < passes; ++pass) {
    for (std::size_t other = 0; other < index; ++other) subtract_part_along(column, columns + other * length, length);
    const double after = dot(column, column, length);
    if (!(after < 0.25 * before)) return after;
    before = after;
  }
  return index > 0 ? 0 : before;
}

}  // namespace

template <typename T>
void multiply_right(Shape shape, T* matrix, const T* addend, const T* right, T* left, std::size_t rank) {
  for (std::size_t i = 0; i < shape.rows; ++i) {
    T* __restrict row = matrix + i * shape.cols;
    if (addend != nullptr) {
      const T* __restrict other = addend + i * shape.cols;
      for (std::size_t j = 0; j < shape.cols; ++j) row[j] += other[j];
    }
    for_each_group(rank, [&]<std::size_t Columns>(std::size_t first) {
      dot_row<Columns>(row, right + first * shape.cols, shape.cols, left + first * shape.rows + i, shape.rows);
    });
  }
}

template <typename T>
void multiply_left(Shape shape, const T* matrix, const T* left, T* right, std::size_t rank) {
  constexpr std::size_t block = 4;
  std::fill_n(right, rank * shape.cols, T(0));
  const std::size_t whole = shape.rows - shape.rows % block;
  for (std::size_t i = 0; i < whole; i += block)
    for_each_group(rank, [&]<std::size_t Columns>(std::size_t first) {
      add_rows<Columns, block>(shape, matrix + i * shape.cols, left + first * shape.rows + i,
                               right + first * shape.cols);
    });
  for (std::size_t i = whole; i < shape.rows; ++i)
    for_each_group(rank, [&]<std::size_t Columns>(std::size_t first) {
      add_rows<Columns, 1>(shape, matrix + i * shape.cols, left + first * shape.rows + i, right + first * shape.cols);
    });
}

template <typename T>
void expand(Shape shape, const T* left, const T* right, std::size_t rank, T scale, T* output) {
  for (std::size_t i = 0; i < shape.rows; ++i) {
    T* row = output + i * shape.cols;
    std::fill_n(row, shape.cols, T(0));
    for_each_group(rank, [&]<std::size_t Columns>(std::size_t first) {
      T weights[Columns];
      for (std::size_t c = 0; c < Columns; ++c) weights[c] = scale * left[(first + c) * shape.rows + i];
      add_columns<Columns>(weights, right + first * shape.cols, shape.cols, row);
    });
  }
}

template <typename T>
void subtract_product(Shape shape, const T* left, const T* right, std::size_t rank, T* matrix) {
  for (std::size_t i = 0; i < shape.rows; ++i)
    for_each_group(rank, [&]<std::size_t Columns>(std::size_t first) {
      T weights[Columns];
      for (std::size_t c = 0; c < Columns; ++c) weights[c] = -left[(first + c) * shape.rows + i];
      add_columns<Columns>(weights, right + first * shape.cols, shape.cols, matrix + i * shape.cols);
    });
}

template <typename T>
void orthogonalize(T* columns, std::size_t length, std::size_t rank) {
  for (std::size_t c = 0; c < rank; ++c) {
    T* column = columns + c * length;
    const double squared = make_orthogonal(columns, length, c);
    // A length that overflows makes the column NaN, not zero, so that it is noticed.
    const double factor = squared == 0 ? 0 : squared <= max_double ? 1 / __builtin_sqrt(squared) : __builtin_nan("");
    for (std::size_t i = 0; i < length; ++i) column[i] = static_cast<T>(static_cast<double>(column[i]) * factor);
  }
}

template <typename T>
void fill_zero_columns(T* columns, std::size_t length, std::size_t rank, std::uint64_t seed) {
  for (std::size_t c = 0; c < rank; ++c) {
    T* column = columns + c * length;
    if (std::any_of(column, column + length, [](T x) { return x != T(0); })) continue;
    const std::uint64_t stream = detail::mix_bits(seed ^ detail::mix_bits(c));
    for (std::size_t i = 0; i < length; ++i) {
      const std::uint64_t bits = detail::mix_bits(stream + i) >> 41;  // 23 bits plus a half are exact in float
      column[i] = (static_cast<T>(bits) + T(0.5)) * T(0x1p-22) - T(1);
    }
  }
}

#define TUTTI_INSTANTIATE(T)                                                       \
  template void multiply_right<T>(Shape, T*, const T*, const T*, T*, std::size_t); \
  template void multiply_left<T>(Shape, const T*, const T*, T*, std::size_t);      \
  template void expand<T>(Shape, const T*, const T*, std::size_t, T, T*);          \
  template void subtract_product<T>(Shape, const T*, const T*, std::size_t, T*);   \
  template void orthogonalize<T>(T*, std::size_t, std::size_t);                    \
  template void fill_zero_columns<T>(T*, std::size_t, std::size_t, std::uint64_t);
TUTTI_INSTANTIATE(float)
TUTTI_INSTANTIATE(double)
#undef TUTTI_INSTANTIATE

}  // namespace tutti::training
