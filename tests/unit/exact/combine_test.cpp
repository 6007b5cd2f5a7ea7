// SPDX-License-Identifier: BSD-3-Clause
// The combination of Accumulation::exact against integers: all floating-point types, any number of contributions.
#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <tutti/error.hpp>
#include <tutti/float_types.hpp>

#include "kernels/combine.hpp"
#include "kernels/exact_round.hpp"
#include "unit/exact/numbers.hpp"
#include "unit/exact/oracle.hpp"

namespace tutti {
namespace {

using test::bits;
using test::infinity;
using test::Oracle;
using test::Random;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <typename T>
kernels::exact::Format binary_format() {
  if constexpr (std::is_same_v<T, float8_e4m3_t>) return {4, -9, 9};
  if constexpr (std::is_same_v<T, float8_e5m2_t>) return {3, -16, 16};
  return kernels::exact::format_of(datatype_of<T>().kind());
}

template <typename T>
double wide(T x) {
  if constexpr (std::is_arithmetic_v<T>) return static_cast<double>(x);
  return static_cast<double>(static_cast<float>(x));
}
template <typename T>
T narrowed(double x) {
  if constexpr (std::is_arithmetic_v<T>) return static_cast<T>(x);
  return T(static_cast<float>(x));
}

/// A finite number of T: any, close to another one, zero, or half a unit of one.
template <typename T>
T number(Random& random) {
  const kernels::exact::Format f = binary_format<T>();
  const int low = f.least;
  const int high = f.limit - 8;
  switch (random() % 6) {
    case 0:
      return narrowed<T>(test::number_between(random, low, f.limit - 2));
    case 1:
      return narrowed<T>(random() % 2 == 0 ? 0.0 : -0.0);
    case 2:
      return narrowed<T>(std::ldexp(random() % 2 == 0 ? 1.0 : -1.0, std::clamp(-f.precision, low, high)));
    case 3:
      return narrowed<T>(random() % 2 == 0 ? 1.0 : -1.0);
    default:
      return narrowed<T>(test::number_between(random, std::max(low, -6), std::min(high, 6)));
  }
}

template <typename T>
double expected(const std::vector<std::vector<T>>& inputs, std::size_t i) {
  Oracle oracle;
  bool is_minus = true;
  for (const auto& input : inputs) {
    oracle.add(wide(input[i]));
    is_minus = is_minus && wide(input[i]) == 0 && std::signbit(wide(input[i]));
  }
  const kernels::exact::Format f = binary_format<T>();
  const double sum = oracle.rounded(f.precision, f.least, f.limit);
  return sum == 0 ? (is_minus ? -0.0 : 0.0) : sum;
}

template <typename T>
std::vector<const void*> addresses(const std::vector<std::vector<T>>& inputs) {
  std::vector<const void*> all;
  for (const auto& input : inputs) all.push_back(input.data());
  return all;
}

template <typename T>
class ExactCombination : public ::testing::Test {};
using Types = ::testing::Types<double, float, float16_t, bfloat16_t, float8_e4m3_t, float8_e5m2_t>;
TYPED_TEST_SUITE(ExactCombination, Types);

TYPED_TEST(ExactCombination, RoundsOnce) {
  using T = TypeParam;
  Random random(1);
  for (const std::size_t ranks : {1U, 2U, 3U, 4U, 7U, 33U})
    for (const std::size_t count : {1U, 7U, 1100U}) {
      std::vector<std::vector<T>> inputs(ranks, std::vector<T>(count));
      for (auto& input : inputs) std::generate(input.begin(), input.end(), [&] { return number<T>(random); });
      if (ranks > 1)  // cancels, but for what the others add
        for (std::size_t i = 0; i < count; i += 3) inputs[1][i] = narrowed<T>(-wide(inputs[0][i]));
      std::vector<T> result(count);
      kernels::combine_exactly(datatype_of<T>(), addresses(inputs), result.data(), count);
      for (std::size_t i = 0; i < count; ++i) {
        const double sum = expected(inputs, i);
        ASSERT_EQ(bits(wide(result[i])), bits(wide(narrowed<T>(sum)))) << ranks << " ranks, element " << i;
      }
      std::reverse(inputs.begin(), inputs.end());
      kernels::combine_exactly(datatype_of<T>(), addresses(inputs), inputs.back().data(), count);
      ASSERT_EQ(std::memcmp(inputs.back().data(), result.data(), count * sizeof(T)), 0) << "in place, the other way";
    }
}

TYPED_TEST(ExactCombination, HasSpecialValues) {
  using T = TypeParam;
  if constexpr (sizeof(T) > 1) {  // 8 bits have no infinities
    const double largest =
        std::ldexp(2 - std::ldexp(1.0, 1 - binary_format<T>().precision), binary_format<T>().limit - 1);
    const std::vector<std::array<double, 4>> cases{{infinity, 1, -2, infinity},
                                                   {infinity, -infinity, 1, not_a_number},
                                                   {not_a_number, 1, 2, not_a_number},
                                                   {largest, largest, -largest, largest},
                                                   {-0.0, -0.0, -0.0, -0.0},
                                                   {-0.0, 0.0, -0.0, 0.0},
                                                   {1, -1, -0.0, 0.0},
                                                   {largest, largest, 0.0, infinity}};
    for (const auto& [a, b, c, sum] : cases) {
      const std::vector<std::vector<T>> inputs{{narrowed<T>(a)}, {narrowed<T>(b)}, {narrowed<T>(c)}};
      T result{};
      kernels::combine_exactly(datatype_of<T>(), addresses(inputs), &result, 1);
      if (std::isnan(sum)) {
        EXPECT_TRUE(std::isnan(wide(result))) << a << " " << b << " " << c;
      } else {
        EXPECT_EQ(bits(wide(result)), bits(sum)) << a << " " << b << " " << c;
      }
    }
  }
}

TEST(ExactCombinations, TakesComplexNumbersAndDivides) {
  using Complex = std::complex<float>;
  const std::vector<std::vector<Complex>> inputs{{{1e10F, 1}}, {{3, 0x1p30F}}, {{-1e10F, -0x1p30F}}};
  Complex result;
  kernels::combine_exactly(datatype_of<Complex>(), addresses(inputs), &result, 1);
  EXPECT_EQ(result, Complex(3, 1));
  kernels::combine_exactly(datatype_of<Complex>(), addresses(inputs), &result, 1, 3);
  EXPECT_EQ(result, Complex(1, 1.0F / 3));
}

TEST(ExactCombinations, RefusesIntegers) {
  const int x = 1;
  int result = 0;
  const void* input = &x;
  EXPECT_THROW(kernels::combine_exactly(DatatypeKind::int32, {&input, 1}, &result, 1), Error);
  EXPECT_THROW(kernels::combine_exactly(DatatypeKind::float32, {}, &result, 1), Error);
}

}  // namespace
}  // namespace tutti
