// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <tutti/error.hpp>
#include <vector>

#include "kernels/combine.hpp"

// NaN and signed zeros, value-index pairs, user functions, averages and scaling.
namespace {

using namespace tutti;

template <typename T>
T combine_two(DatatypeKind type, ReduceOp op, T a, T b) {
  T output;
  std::memset(static_cast<void*>(&output), 0xab, sizeof output);
  const std::vector<const void*> inputs{&a, &b};
  kernels::combine(type, op, inputs, &output, 1);
  return output;
}

template <typename T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

template <typename T>
class Extremum : public testing::Test {};
using Floats = testing::Types<float, double, float16_t, bfloat16_t, float8_e4m3_t, float8_e5m2_t>;
TYPED_TEST_SUITE(Extremum, Floats);

TYPED_TEST(Extremum, NanWinsAsOneFixedNan) {
  const auto type = datatype_of<TypeParam>().kind();
  const auto nan = static_cast<TypeParam>(std::nanf(""));
  const auto negative_nan = static_cast<TypeParam>(-std::nanf("7"));
  const auto one = static_cast<TypeParam>(1.0F);
  for (const ReduceKind op : {ReduceKind::min, ReduceKind::max}) {
    const auto result = combine_two(type, op, nan, one);
    EXPECT_TRUE(std::isnan(static_cast<float>(result)));
    EXPECT_TRUE(same_bits(result, combine_two(type, op, one, nan)));
    EXPECT_TRUE(same_bits(result, combine_two(type, op, one, negative_nan)));
    EXPECT_TRUE(same_bits(result, combine_two(type, op, negative_nan, nan)));
    EXPECT_TRUE(same_bits(result, combine_two(type, ReduceKind::min, nan, one))) << "min and max give one NaN";
  }
}

TYPED_TEST(Extremum, MinusZeroIsBelowPlusZero) {
  const auto type = datatype_of<TypeParam>().kind();
  const auto plus = static_cast<TypeParam>(0.0F);
  const auto minus = static_cast<TypeParam>(-0.0F);
  EXPECT_TRUE(same_bits(combine_two(type, ReduceKind::min, plus, minus), minus));
  EXPECT_TRUE(same_bits(combine_two(type, ReduceKind::min, minus, plus), minus));
  EXPECT_TRUE(same_bits(combine_two(type, ReduceKind::max, plus, minus), plus));
  EXPECT_TRUE(same_bits(combine_two(type, ReduceKind::max, minus, plus), plus));
}

TEST(ExtremumOfFloat, InfinitiesAreNumbers) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(combine_two(DatatypeKind::float32, ReduceKind::min, -infinity, -3e38F), -infinity);
  EXPECT_EQ(combine_two(DatatypeKind::float32, ReduceKind::max, infinity, 3e38F), infinity);
  EXPECT_EQ(combine_two(DatatypeKind::float32, ReduceKind::max, -infinity, -3e38F), -3e38F);
}

template <typename Pair>
void check_locations(DatatypeKind type) {
  using V = decltype(Pair::value);
  using I = decltype(Pair::index);
  const auto pair = [](double v, int i) { return Pair{static_cast<V>(v), static_cast<I>(i)}; };
  EXPECT_EQ(combine_two(type, ReduceKind::minloc, pair(2, 5), pair(1, 9)), pair(1, 9));
  EXPECT_EQ(combine_two(type, ReduceKind::maxloc, pair(2, 5), pair(1, 9)), pair(2, 5));
  EXPECT_EQ(combine_two(type, ReduceKind::minloc, pair(-1, 5), pair(-1, 3)), pair(-1, 3));
  EXPECT_EQ(combine_two(type, ReduceKind::maxloc, pair(-1, 3), pair(-1, 5)), pair(-1, 3));
  EXPECT_EQ(combine_two(type, ReduceKind::maxloc, pair(4, 8), pair(4, 5)), pair(4, 5));
  const Pair result = combine_two(type, ReduceKind::maxloc, pair(4, 8), pair(6, 5));
  Pair clean;
  std::memset(static_cast<void*>(&clean), 0, sizeof clean);
  clean.value = static_cast<V>(6);
  clean.index = static_cast<I>(5);
  EXPECT_TRUE(same_bits(result, clean)) << "padding must be zero";
}

TEST(Location, EveryPairType) {
  check_locations<Float32Int32>(DatatypeKind::float32_int32);
  check_locations<Float64Int32>(DatatypeKind::float64_int32);
  check_locations<Int32Int32>(DatatypeKind::int32_int32);
  check_locations<Int64Int32>(DatatypeKind::int64_int32);
  check_locations<Int64Int64>(DatatypeKind::int64_int64);
  check_locations<Float64Int64>(DatatypeKind::float64_int64);
  check_locations<Float32Float32>(DatatypeKind::float32_float32);
  check_locations<Float64Float64>(DatatypeKind::float64_float64);
}

TEST(Location, NanWinsWithTheLowestIndexAmongNans) {
  const float nan = std::nanf("");
  const auto type = DatatypeKind::float32_int32;
  for (const ReduceKind op : {ReduceKind::minloc, ReduceKind::maxloc}) {
    const Float32Int32 result = combine_two(type, op, Float32Int32{1, 0}, Float32Int32{-nan, 4});
    EXPECT_TRUE(std::isnan(result.value));
    EXPECT_EQ(result.index, 4);
    const Float32Int32 both = combine_two(type, op, Float32Int32{nan, 7}, Float32Int32{-nan, 4});
    EXPECT_TRUE(same_bits(both, result));
  }
}

TEST(Location, ZerosOfEitherSignAreEqual) {
  const auto type = DatatypeKind::float64_int32;
  const Float64Int32 a{-0.0, 5};
  const Float64Int32 b{0.0, 3};
  for (const ReduceKind op : {ReduceKind::minloc, ReduceKind::maxloc}) {
    EXPECT_EQ(combine_two(type, op, a, b).index, 3);
    EXPECT_EQ(combine_two(type, op, b, a).index, 3);
    const Float64Int32 c{0.0, 5};
    EXPECT_TRUE(same_bits(combine_two(type, op, a, c), combine_two(type, op, c, a)));
  }
}

TEST(Location, ManyInputsOfPairs) {
  std::vector<std::vector<Float64Int32>> inputs(17, std::vector<Float64Int32>(1300));
  std::vector<const void*> pointers;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    for (std::size_t i = 0; i < inputs[k].size(); ++i) {
      inputs[k][i] = {static_cast<double>((k * 7 + i) % 17), static_cast<std::int32_t>(k)};
    }
    pointers.push_back(inputs[k].data());
  }
  std::vector<Float64Int32> output(1300);
  kernels::combine(DatatypeKind::float64_int32, ReduceKind::minloc, pointers, output.data(), output.size());
  for (std::size_t i = 0; i < output.size(); ++i) {
    EXPECT_EQ(output[i].value, 0.0);
    EXPECT_EQ((static_cast<std::size_t>(output[i].index) * 7 + i) % 17, 0U);
  }
}

// Composition of affine maps x -> a x + b: associative, not commutative.
struct Affine {
  std::int64_t a;
  std::int64_t b;
  friend bool operator==(const Affine&, const Affine&) = default;
};

Affine after(Affine lower, Affine higher) { return {lower.a * higher.a % 1009, (lower.a * higher.b + lower.b) % 1009}; }

void compose(const void* in, void* inout, std::size_t count, Datatype type, void* context) {
  ASSERT_EQ(type.size(), sizeof(Affine));
  *static_cast<std::size_t*>(context) += count;
  const auto* lower = static_cast<const Affine*>(in);
  auto* higher = static_cast<Affine*>(inout);
  for (std::size_t i = 0; i < count; ++i) higher[i] = after(lower[i], higher[i]);
}

TEST(UserOperation, KeepsTheOrderOfTheInputs) {
  for (const std::size_t n : {1U, 2U, 3U, 5U, 17U}) {
    std::vector<std::vector<Affine>> inputs(n, std::vector<Affine>(5000));
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t i = 0; i < 5000; ++i) {
        inputs[k][i] = {static_cast<std::int64_t>(i % 13 + k + 2), static_cast<std::int64_t>(i * k % 101)};
      }
    }
    std::vector<Affine> expected = inputs[0];
    for (std::size_t k = 1; k < n; ++k) {
      for (std::size_t i = 0; i < 5000; ++i) expected[i] = after(expected[i], inputs[k][i]);
    }
    for (std::size_t target = 0; target<n; target += n> 2 ? n / 2 : 1) {
      auto copies = inputs;
      std::vector<const void*> pointers;
      for (const auto& copy : copies) pointers.push_back(copy.data());
      std::size_t calls = 0;
      kernels::combine(Datatype::bytes(sizeof(Affine)), ReduceOp::user(compose, &calls, false), pointers,
                       copies[target].data(), 5000);
      EXPECT_EQ(copies[target], expected) << n << " inputs into " << target;
      EXPECT_EQ(calls, (n - 1) * 5000);
    }
  }
}

TEST(Average, IntegersRoundTowardsZero) {
  const std::int32_t a = -7;
  const std::int32_t b = 0;
  std::int32_t out = 0;
  const std::vector<const void*> inputs{&a, &b};
  kernels::combine_avg(DatatypeKind::int32, inputs, &out, 1, 2);
  EXPECT_EQ(out, -3);
  std::int64_t big = std::numeric_limits<std::int64_t>::min();
  kernels::divide(DatatypeKind::int64, &big, 1, 3);
  EXPECT_EQ(big, std::numeric_limits<std::int64_t>::min() / 3);
  std::uint64_t huge = ~std::uint64_t{0};
  kernels::divide(DatatypeKind::uint64, &huge, 1, 7);
  EXPECT_EQ(huge, ~std::uint64_t{0} / 7);
  std::vector<std::uint8_t> bytes(256);
  for (std::size_t i = 0; i < 256; ++i) bytes[i] = static_cast<std::uint8_t>(i);
  kernels::divide(DatatypeKind::uint8, bytes.data(), 256, 3);
  for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(bytes[i], i / 3);
}

TEST(Average, NarrowFloatsRoundOnce) {
  const bfloat16_t a(1.0F);
  const bfloat16_t b(0x1p-8F);  // lost when the sum is rounded before the division
  const bfloat16_t c(0x1p-8F);
  bfloat16_t out;
  const std::vector<const void*> inputs{&a, &b, &c};
  kernels::combine_avg(DatatypeKind::bfloat16, inputs, &out, 1, 3);
  EXPECT_EQ(out.bits, bfloat16_t((1.0F + 0x1p-7F) / 3.0F).bits);
}

TEST(Scale, EveryFloatingType) {
  float single[3] = {1, 2, 3};
  kernels::scale(DatatypeKind::float32, single, 3, 0.1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(single[i], static_cast<float>(i + 1) * 0.1F);
  const double source[2] = {1, 3};
  double target[2];
  kernels::scale_copy(DatatypeKind::float64, source, target, 2, 0.1);
  EXPECT_EQ(target[1], 3 * 0.1);
  float16_t half(3.0F);
  kernels::scale(DatatypeKind::float16, &half, 1, 1.0 / 3);
  EXPECT_EQ(static_cast<float>(half), 1.0F);
  float complex[2] = {1, -2};
  kernels::scale(DatatypeKind::complex64, complex, 1, 2);
  EXPECT_EQ(complex[1], -4.0F);
  EXPECT_THROW(kernels::scale(DatatypeKind::int32, single, 1, 2), Error);
}

TEST(Combine, UndefinedCombinationsNameTypeAndOperation) {
  float x = 1;
  const std::vector<const void*> inputs{&x};
  for (int op = 1; op <= static_cast<int>(ReduceKind::maxloc); ++op) {
    for (int type = 1; type <= static_cast<int>(DatatypeKind::bytes); ++type) {
      const auto kind = static_cast<ReduceKind>(op);
      const auto datatype = static_cast<DatatypeKind>(type);
      if (is_defined(kind, datatype)) continue;
      try {
        kernels::combine(datatype, kind, inputs, &x, 1);
        FAIL() << reduce_op_name(kind) << ' ' << datatype_name(datatype);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_op);
        EXPECT_NE(std::string(error.what()).find(datatype_name(datatype)), std::string::npos);
        EXPECT_NE(std::string(error.what()).find(reduce_op_name(kind)), std::string::npos);
      }
    }
  }
}

}  // namespace
