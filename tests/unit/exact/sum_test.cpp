// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <limits>
#include <tutti/exact.hpp>

#include "kernels/exact_round.hpp"
#include "unit/exact/numbers.hpp"
#include "unit/exact/oracle.hpp"

namespace tutti {
namespace {

using test::bits;
using test::infinity;
using test::Oracle;
using test::Random;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Oracle oracle_of(const std::vector<double>& x) {
  Oracle oracle;
  for (const double value : x) oracle.add(value);
  return oracle;
}

ExactSum sum_of(const std::vector<double>& x) {
  ExactSum sum;
  sum.add(x);
  return sum;
}

/// +0 unless all addends are -0.
double with_zero(double sum, const std::vector<double>& x) {
  if (sum != 0) return sum;
  const bool is_minus =
      !x.empty() && std::all_of(x.begin(), x.end(), [](double v) { return v == 0 && std::signbit(v); });
  return is_minus ? -0.0 : 0.0;
}

void expect_exact(const std::vector<double>& x, std::size_t which) {
  const Oracle oracle = oracle_of(x);
  const ExactSum sum = sum_of(x);
  ASSERT_EQ(bits(sum.rounded()), bits(with_zero(oracle.rounded(), x))) << "case " << which;
  ASSERT_EQ(std::fabs(sum.rounded(DatatypeKind::float32)), std::fabs(oracle.rounded(24, -149, 128))) << which;
  ASSERT_EQ(std::fabs(sum.rounded(DatatypeKind::bfloat16)), std::fabs(oracle.rounded(8, -133, 128))) << which;
  ASSERT_EQ(std::fabs(sum.rounded(DatatypeKind::float16)), std::fabs(oracle.rounded(11, -24, 16))) << which;
}

TEST(ExactSum, RoundsEveryShortSumRight) {
  Random random(1);
  for (std::size_t which = 0; which < 40'000; ++which)
    expect_exact(test::difficult_numbers(random, which, random() % 20), which);
}

TEST(ExactSum, RoundsLongSumsRightWhereverBlocksEnd) {
  Random random(2);
  for (std::size_t which = 0; which < 400; ++which)
    expect_exact(test::difficult_numbers(random, which, random() % 5000), which);
}

TEST(ExactSum, TakesAnOutlierAmongSmallNumbers) {
  Random random(3);
  for (std::size_t which = 0; which < 100; ++which) {
    std::vector<double> x = test::difficult_numbers(random, 5, 4096);
    x[random() % x.size()] = test::any_number(random);
    expect_exact(x, which);
  }
}

/// A block of numbers 2^-span and larger beside 1 and -1, whose heads cancel. Their rests are all of one sign and as
/// large as rests become where a block is split at 2^place: if the span is too long, their sum, which one number
/// cancels, has more bits than a float64.
template <typename T>
std::vector<T> rests_of_one_sign(Random& random, int span, int place) {
  const double head = std::ldexp(1.5, std::max(-span, place + 3));
  const double unit = std::ldexp(1.0, std::max(-span, place + 3) - std::numeric_limits<T>::digits + 1);
  std::vector<T> x(2048);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<T>((i % 2 == 0 ? head : -head) + std::ldexp(1.0, place - 1) -
                          unit * static_cast<double>(1 + random() % 4));
  x[3] = static_cast<T>(std::ldexp(1.0 + std::numeric_limits<T>::epsilon(), -span));
  x[4] = static_cast<T>(-std::ldexp(1.0, place + 10));
  const std::size_t at = random() % 2 == 0 ? 0 : 1000;
  x[at] = 1;
  x[at + 1] = -1;
  return x;
}
template <typename T>
void expect_exact_beyond(Random& random, int span) {
  const std::vector<T> x = rests_of_one_sign<T>(random, span, random() % 2 == 0 ? -44 : -48);
  const double expected = oracle_of({x.begin(), x.end()}).rounded();
  ExactSum sum;
  sum.add(x);
  ASSERT_EQ(sum.rounded(), expected) << "span " << span;
}

TEST(ExactSum, IsExactWhereRestsOfABlockNoLongerAddUp) {
  Random random(7);
  for (int i = 0; i < 20; ++i) {
    for (int span = 30; span < 48; ++span) expect_exact_beyond<double>(random, span);
    for (int span = 58; span < 76; ++span) expect_exact_beyond<float>(random, span);
  }
}

TEST(ExactSum, DoesNotDependOnOrderOrParts) {
  Random random(4);
  for (std::size_t which = 0; which < 300; ++which) {
    std::vector<double> x = test::difficult_numbers(random, which, 1 + random() % 3000);
    const double expected = sum_of(x).rounded();
    std::shuffle(x.begin(), x.end(), random);
    const auto middle = static_cast<std::ptrdiff_t>(random() % x.size());
    ExactSum sum = sum_of({x.begin(), x.begin() + middle});
    sum += sum_of({x.begin() + middle, x.end()});
    ASSERT_EQ(bits(sum.rounded()), bits(expected)) << which;
    ExactSum one_by_one;
    for (const double value : x) one_by_one.add(value);
    ASSERT_EQ(bits(one_by_one.rounded()), bits(expected)) << which;
  }
}

TEST(ExactSum, CarriesThroughMillionsOfAdditions) {
  ExactSum sum;
  for (int i = 0; i < 3'000'000; ++i) sum.add(-0x1.fffffffffffffp+0);
  EXPECT_EQ(sum.rounded(), -0x1.fffffffffffffp+0 * 3e6);
  const ExactSum part = sum;
  for (int i = 0; i < 63; ++i) sum += ExactSum(sum);
  sum.add(part);
  EXPECT_EQ(sum.rounded(), std::ldexp(part.rounded(), 63));
}

TEST(ExactSum, DefinesWhatIsNotFinite) {
  EXPECT_EQ(bits(sum_of({1, nan, infinity}).rounded()), bits(nan));
  EXPECT_EQ(bits(sum_of({-nan}).rounded()), bits(nan));
  EXPECT_EQ(bits(sum_of({infinity, -infinity}).rounded()), bits(nan));
  EXPECT_EQ(sum_of({infinity, 1, -1e308}).rounded(), infinity);
  EXPECT_EQ(sum_of({-infinity, 1}).rounded(DatatypeKind::float16), -infinity);
  std::vector<double> late(5000, 1.0);
  late[4321] = -infinity;
  EXPECT_EQ(sum_of(late).rounded(), -infinity);
}

TEST(ExactSum, OverflowsOnlyInTheResult) {
  constexpr double most = std::numeric_limits<double>::max();
  EXPECT_EQ(sum_of({most, most}).rounded(), infinity);
  EXPECT_EQ(sum_of({most, most, -most}).rounded(), most);
  EXPECT_EQ(sum_of({most, 0x1p969}).rounded(), most);
  EXPECT_EQ(sum_of({most, 0x1p970}).rounded(), infinity);
  EXPECT_EQ(sum_of({65519}).rounded(DatatypeKind::float16), 65504);
  EXPECT_EQ(sum_of({65520}).rounded(DatatypeKind::float16), infinity);
}

TEST(ExactSum, KnowsZeros) {
  EXPECT_EQ(bits(ExactSum().rounded()), bits(0.0));
  EXPECT_EQ(bits(sum_of(std::vector<double>(3000, -0.0)).rounded()), bits(-0.0));
  EXPECT_EQ(bits(sum_of({-0.0, 0.0}).rounded()), bits(0.0));
  EXPECT_EQ(bits(sum_of({1, -1, -0.0}).rounded()), bits(0.0));
  EXPECT_EQ(bits(sum_of({-1e-300}).rounded(DatatypeKind::float32)), bits(-0.0));
}

TEST(ExactSum, RefusesTypesThatAreNotReal) {
  EXPECT_THROW((void)ExactSum().rounded(DatatypeKind::complex64), Error);
  EXPECT_THROW((void)ExactSum().rounded(DatatypeKind::int32), Error);
  EXPECT_THROW(ExactSum().add(std::vector<int>{1}), Error);
}

TEST(ExactSum, AddsProductsExactly) {
  Random random(5);
  for (std::size_t which = 0; which < 20'000; ++which) {
    const std::size_t count = random() % 5;
    const std::vector<double> x = test::difficult_numbers(random, which, count);
    const std::vector<double> y = test::difficult_numbers(random, which / 8, count);
    Oracle oracle;
    ExactSum one_by_one;
    for (std::size_t i = 0; i < count; ++i) {
      oracle.add_product(x[i], y[i]);
      one_by_one.add_product(x[i], y[i]);
    }
    ExactSum sum;
    sum.add(ExactTerms(x).weighted(y));
    ASSERT_EQ(sum.rounded(), oracle.rounded()) << which;
    ASSERT_EQ(bits(sum.rounded()), bits(one_by_one.rounded())) << which;
  }
}

TEST(ExactSum, DefinesProductsOfZerosAndInfinities) {
  ExactSum sum;
  sum.add_product(-0.0, 5);
  EXPECT_EQ(bits(sum.rounded()), bits(-0.0));
  sum.add(ExactTerms(std::vector{3.0}).weighted(std::vector{-0.0}));
  EXPECT_EQ(bits(sum.rounded()), bits(-0.0));
  sum.add_product(infinity, 0);
  EXPECT_EQ(bits(sum.rounded()), bits(nan));
}

TEST(ExactSum, RootsAreRoundedRight) {
  Random random(6);
  for (std::size_t which = 0; which < 20'000; ++which) {
    const std::vector<double> x = test::difficult_numbers(random, which, 1 + random() % 4);
    Oracle squares;
    ExactSum sum;
    for (const double value : x) {
      squares.add_product(value, value);
      sum.add_product(value, value);
    }
    const double root = kernels::exact::rounded_root(sum.digits(), kernels::exact::float64_format);
    if (root < 0x1p-1000 || root > 0x1p1000) continue;  // where half of an ulp is no number
    const double half = (std::nextafter(root, infinity) - root) / 2;
    Oracle above = squares;  // root + half - x, squared, is (root^2 + 2 root half + half^2) - squares
    Oracle below = squares;
    for (Oracle* side : {&above, &below}) side->add_product(-root, root), side->add_product(-half, half);
    above.add_product(-2 * root, half);
    below.add_product(2 * root, half);
    ASSERT_LE(above.sign(), 0) << which << " " << root;
    if (std::frexp(root, std::array<int, 1>{}.data()) != 0.5) {
      ASSERT_GE(below.sign(), 0) << which << " " << root;
    }
  }
}

}  // namespace
}  // namespace tutti
