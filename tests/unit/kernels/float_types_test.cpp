// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tutti/float_types.hpp>
#include <type_traits>
#include <vector>

#include "kernels/convert.hpp"

namespace {

using namespace tutti;

template <typename T>
struct Format;
template <>
struct Format<float16_t> {
  static constexpr unsigned codes = 0x8000;
  static constexpr double largest = 65504;
  static constexpr double smallest = 0x1p-24;
  static constexpr bool saturates = false;
};
template <>
struct Format<bfloat16_t> {
  static constexpr unsigned codes = 0x8000;
  static constexpr double largest = 0x1.fep127;
  static constexpr double smallest = 0x1p-133;
  static constexpr bool saturates = false;
};
template <>
struct Format<float8_e4m3_t> {
  static constexpr unsigned codes = 0x80;
  static constexpr double largest = 448;
  static constexpr double smallest = 0x1p-9;
  static constexpr bool saturates = true;
};
template <>
struct Format<float8_e5m2_t> {
  static constexpr unsigned codes = 0x80;
  static constexpr double largest = 57344;
  static constexpr double smallest = 0x1p-16;
  static constexpr bool saturates = true;
};

template <typename T>
T from_bits(unsigned bits) {
  T value;
  value.bits = static_cast<decltype(T::bits)>(bits);
  return value;
}

/// The code of |x| by search among all finite values, ties to the even code.
template <typename T>
unsigned nearest_code(double x, const std::vector<double>& values) {
  const auto above = std::lower_bound(values.begin(), values.end(), x);
  if (above == values.end()) {
    const double half_step = (values.back() - values[values.size() - 2]) / 2;
    const bool stays = Format<T>::saturates || x < values.back() + half_step;
    return static_cast<unsigned>(values.size()) - (stays ? 1 : 0);
  }
  const auto code = static_cast<unsigned>(above - values.begin());
  if (*above == x || code == 0) return code;
  const double up = *above - x;
  const double down = x - values[code - 1];
  if (up != down) return up < down ? code : code - 1;
  return code % 2 == 0 ? code : code - 1;
}

template <typename T>
class FloatTypes : public testing::Test {
 protected:
  static std::vector<double> finite_values() {
    std::vector<double> values;
    for (unsigned code = 0; code < Format<T>::codes; ++code) {
      const auto value = static_cast<float>(from_bits<T>(code));
      if (std::isfinite(value)) values.push_back(static_cast<double>(value));
    }
    return values;
  }
};

using Types = testing::Types<float16_t, bfloat16_t, float8_e4m3_t, float8_e5m2_t>;
TYPED_TEST_SUITE(FloatTypes, Types);

TYPED_TEST(FloatTypes, AreTriviallyCopyableAndHaveTheirRange) {
  static_assert(std::is_trivially_copyable_v<TypeParam> && std::is_trivially_default_constructible_v<TypeParam>);
  const auto values = this->finite_values();
  EXPECT_EQ(values.front(), 0.0);
  EXPECT_EQ(values[1], Format<TypeParam>::smallest);
  EXPECT_EQ(values.back(), Format<TypeParam>::largest);
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
}

TYPED_TEST(FloatTypes, EveryValueSurvivesTheRoundTrip) {
  for (unsigned code = 0; code < 2 * Format<TypeParam>::codes; ++code) {
    const auto value = from_bits<TypeParam>(code);
    const auto wide = static_cast<float>(value);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(wide)))) << code;
    } else if (std::isfinite(wide)) {
      ASSERT_EQ(TypeParam(wide).bits, value.bits) << code;
    }
  }
}

TYPED_TEST(FloatTypes, RoundsToNearestTiesToEven) {
  const auto values = this->finite_values();
  std::mt19937 generator(7);
  for (int i = 0; i < 400000; ++i) {
    auto bits = static_cast<std::uint32_t>(generator());
    if (i % 3 == 1) bits = (bits & 0x80ffffffU) | ((100U + bits % 45U) << 23);
    if (i % 3 == 2) bits &= ~0x7ffU;
    const float x = detail::float_from_bits(bits);
    if (std::isnan(x)) continue;
    const unsigned sign = std::signbit(x) ? Format<TypeParam>::codes : 0;
    ASSERT_EQ(TypeParam(x).bits, sign + nearest_code<TypeParam>(std::fabs(static_cast<double>(x)), values)) << x;
  }
}

TYPED_TEST(FloatTypes, InfinityAndNan) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto top = static_cast<float>(TypeParam(infinity));
  EXPECT_EQ(static_cast<double>(top), Format<TypeParam>::saturates ? Format<TypeParam>::largest : HUGE_VAL);
  EXPECT_EQ(static_cast<float>(TypeParam(-infinity)), -top);
  EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(std::nanf("")))));
  EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(detail::float_from_bits(0x7f800001U)))));
}

TYPED_TEST(FloatTypes, RunsConvertLikeSingleValues) {
  std::vector<TypeParam> values;
  for (unsigned code = 0; code < 2 * Format<TypeParam>::codes; ++code) values.push_back(from_bits<TypeParam>(code));
  values.resize(values.size() - 3);
  std::vector<float> wide(values.size());
  std::vector<TypeParam> back(values.size());
  kernels::widen(values.data(), wide.data(), values.size());
  kernels::narrow(wide.data(), back.data(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto expected = static_cast<float>(values[i]);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(wide[i]));
      continue;
    }
    ASSERT_EQ(detail::float_bits(wide[i]), detail::float_bits(expected)) << i;
    ASSERT_EQ(back[i].bits, TypeParam(expected).bits) << i;
  }
}

TEST(Float16, IntegerConversionEqualsTheHardware) {
  for (unsigned code = 0; code < 0x10000U; ++code) {
    const auto half = from_bits<float16_t>(code);
    const auto wide = static_cast<float>(half);
    const float portable = detail::widen_float16(half.bits);
    if (std::isnan(wide)) {
      ASSERT_TRUE(std::isnan(portable));
    } else {
      ASSERT_EQ(detail::float_bits(portable), detail::float_bits(wide)) << code;
    }
  }
}

}  // namespace
