// SPDX-License-Identifier: BSD-3-Clause
#include "training/hooks/low_rank.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace tutti::training;

template <typename T>
class LowRank : public testing::Test {
 protected:
  static constexpr double tolerance = std::is_same_v<T, float> ? 2e-5 : 1e-13;

  std::vector<T> random(std::size_t count) {
    std::vector<T> values(count);
    for (T& x : values) x = static_cast<T>(normal_(generator_));
    return values;
  }

 private:
  std::mt19937 generator_{11};
  std::normal_distribution<double> normal_{};
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(LowRank, Types);

const Shape shapes[] = {{1, 1}, {3, 5}, {16, 16}, {33, 70}, {130, 17}};

TYPED_TEST(LowRank, ProductsEqualTheDefinition) {
  using T = TypeParam;
  for (const Shape shape : shapes)
    for (const std::size_t rank : {1U, 2U, 3U, 4U, 7U}) {
      const auto [n, m] = shape;
      auto matrix = this->random(n * m);
      const auto addend = this->random(n * m);
      const auto right = this->random(rank * m);
      const auto before = matrix;
      std::vector<T> left(rank * n, T(9)), back(rank * m, T(9));
      multiply_right(shape, matrix.data(), addend.data(), right.data(), left.data(), rank);
      for (std::size_t k = 0; k < n * m; ++k) ASSERT_EQ(matrix[k], before[k] + addend[k]);
      multiply_left(shape, matrix.data(), left.data(), back.data(), rank);
      for (std::size_t c = 0; c < rank; ++c) {
        for (std::size_t i = 0; i < n; ++i) {
          double sum = 0;
          for (std::size_t j = 0; j < m; ++j) sum += double{matrix[i * m + j]} * double{right[c * m + j]};
          ASSERT_NEAR(left[c * n + i], sum, this->tolerance * static_cast<double>(m));
        }
        for (std::size_t j = 0; j < m; ++j) {
          double sum = 0;
          for (std::size_t i = 0; i < n; ++i) sum += double{matrix[i * m + j]} * double{left[c * n + i]};
          ASSERT_NEAR(back[c * m + j], sum, this->tolerance * static_cast<double>(n * m));
        }
      }
      auto error = matrix;
      std::vector<T> output(n * m, T(9));
      expand(shape, left.data(), right.data(), rank, T(3), output.data());
      subtract_product(shape, left.data(), right.data(), rank, error.data());
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < m; ++j) {
          double sum = 0;
          for (std::size_t c = 0; c < rank; ++c) sum += double{left[c * n + i]} * double{right[c * m + j]};
          ASSERT_NEAR(output[i * m + j], 3 * sum, this->tolerance * 300);
          ASSERT_NEAR(error[i * m + j], matrix[i * m + j] - sum, this->tolerance * 300);
        }
    }
}

template <typename T>
double dot_of(const std::vector<T>& columns, std::size_t length, std::size_t a, std::size_t b) {
  double sum = 0;
  for (std::size_t i = 0; i < length; ++i) sum += double{columns[a * length + i]} * double{columns[b * length + i]};
  return sum;
}

TYPED_TEST(LowRank, OrthogonalColumnsHaveLengthOne) {
  constexpr std::size_t length = 200;
  constexpr std::size_t rank = 6;
  auto columns = this->random(length * rank);
  const TypeParam nearly = std::is_same_v<TypeParam, float> ? TypeParam(1e-5) : TypeParam(1e-12);
  for (std::size_t i = 0; i < length; ++i)  // the third is the first but for a trifle
    columns[2 * length + i] = columns[i] + nearly * columns[2 * length + i];
  orthogonalize(columns.data(), length, rank);
  for (std::size_t a = 0; a < rank; ++a)
    for (std::size_t b = 0; b <= a; ++b)
      EXPECT_NEAR(dot_of(columns, length, a, b), a == b ? 1 : 0, 50 * std::numeric_limits<TypeParam>::epsilon())
          << a << " " << b;
}

TYPED_TEST(LowRank, DependentColumnsBecomeZeroOrOrthogonal) {
  constexpr std::size_t length = 64;
  auto columns = this->random(length * 4);
  for (std::size_t i = 0; i < length; ++i) {
    columns[length + i] = TypeParam(2) * columns[i];
    columns[2 * length + i] = 0;
  }
  orthogonalize(columns.data(), length, 4);
  const double rest = dot_of(columns, length, 1, 1);
  EXPECT_NEAR(rest, rest < 0.5 ? 0 : 1, 1e-5);
  EXPECT_EQ(dot_of(columns, length, 2, 2), 0);
  EXPECT_NEAR(dot_of(columns, length, 3, 3), 1, 1e-5);
  for (const std::size_t other : {0U, 1U}) EXPECT_NEAR(dot_of(columns, length, other, 3), 0, 1e-5);
  EXPECT_NEAR(dot_of(columns, length, 0, 1), 0, 1e-5);
}

TYPED_TEST(LowRank, NanStays) {
  auto columns = this->random(2 * 8);
  columns[3] = std::numeric_limits<TypeParam>::quiet_NaN();
  orthogonalize(columns.data(), 8, 2);
  EXPECT_TRUE(std::isnan(columns[0]));
  EXPECT_TRUE(std::isnan(columns[8]));
}

TYPED_TEST(LowRank, OnlyZeroColumnsAreFilled) {
  constexpr std::size_t length = 500;
  std::vector<TypeParam> columns(3 * length);
  columns[length + 4] = TypeParam(1);
  auto same = columns;
  auto other = columns;
  fill_zero_columns(columns.data(), length, 3, 42);
  fill_zero_columns(same.data(), length, 3, 42);
  fill_zero_columns(other.data(), length, 3, 43);
  EXPECT_EQ(columns, same);
  EXPECT_NE(columns, other);
  EXPECT_EQ(dot_of(columns, length, 1, 1), 1);
  EXPECT_NEAR(dot_of(columns, length, 0, 0), length / 3.0, 40);  // uniform in (-1, 1)
  EXPECT_NEAR(dot_of(columns, length, 0, 2), 0, 40);
  for (const TypeParam x : columns) EXPECT_LE(std::fabs(x), 1);
}

}  // namespace
