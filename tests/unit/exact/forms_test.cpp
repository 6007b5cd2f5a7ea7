// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <limits>
#include <tutti/exact.hpp>

#include "collectives/exact/words.hpp"
#include "kernels/exact_digits.hpp"
#include "kernels/exact_expansion.hpp"
#include "kernels/exact_round.hpp"
#include "unit/exact/numbers.hpp"
#include "unit/exact/oracle.hpp"

namespace tutti {
namespace {

using detail::ExactWords;
using detail::FixedPoint;
using kernels::exact::Expansion;
using test::bits;
using test::infinity;
using test::Random;

FixedPoint number_of(const std::vector<double>& x) {
  ExactSum sum;
  sum.add(x);
  return sum.digits();
}

double rounded(FixedPoint number) { return kernels::exact::rounded(number, kernels::exact::float64_format); }

/// The same numbers on `ranks` ranks, of which the first few have some.
void expect_words_to_hold(const std::vector<double>& x, int ranks) {
  const ExactWords form(DatatypeKind::float64, ranks);
  std::vector<std::int64_t> total(form.count()), words(form.count());
  const std::size_t parts = std::min<std::size_t>(static_cast<std::size_t>(ranks), 5);
  for (std::size_t r = 0; r < parts; ++r) {
    std::vector<double> own;
    for (std::size_t i = r; i < x.size(); i += parts) own.push_back(x[i]);
    FixedPoint number = number_of(own);
    form.write(number, words.data());
    for (std::size_t i = 0; i < words.size(); ++i) total[i] += words[i];
  }
  FixedPoint result;
  form.read(total.data(), result);
  ASSERT_EQ(bits(rounded(result)), bits(rounded(number_of(x)))) << ranks << " ranks";
}

TEST(ExactWords, HoldTheSumOfAllRanks) {
  Random random(1);
  for (std::size_t which = 0; which < 4000; ++which) {
    const std::vector<double> x = test::difficult_numbers(random, which, random() % 9);
    for (const int ranks : {1, 2, 3, 1000, 1 << 20, std::numeric_limits<int>::max()}) expect_words_to_hold(x, ranks);
  }
}

TEST(ExactWords, HoldWhatIsNotFinite) {
  for (const int ranks : {1, 5, std::numeric_limits<int>::max()}) {
    expect_words_to_hold({1, infinity, 2, 3, 4}, ranks);
    expect_words_to_hold({1, infinity, -infinity, 3, 4}, ranks);
    expect_words_to_hold({-0.0, -0.0, -0.0, -0.0, -0.0}, ranks);
    expect_words_to_hold({-0.0, 0.0}, ranks);
    expect_words_to_hold({}, ranks);
  }
}

/// The largest digits of all ranks, which must not overflow.
TEST(ExactWords, HaveRoomForAllRanks) {
  constexpr int ranks = std::numeric_limits<int>::max();
  const ExactWords form(DatatypeKind::float64, ranks);
  std::vector<std::int64_t> words(form.count());
  FixedPoint number = number_of({-std::numeric_limits<double>::denorm_min(), -std::numeric_limits<double>::max()});
  form.write(number, words.data());
  for (std::int64_t& word : words) {
    std::int64_t total = 0;
    ASSERT_FALSE(__builtin_mul_overflow(word, std::int64_t{ranks}, &total));
    word = total;
  }
  FixedPoint sum;
  form.read(words.data(), sum);
  EXPECT_EQ(sum.seen, static_cast<std::uint32_t>(FixedPoint::other_number));
  EXPECT_EQ(rounded(sum), -infinity);
  kernels::exact::add_product(sum, std::numeric_limits<double>::max(), ranks);
  EXPECT_EQ(rounded(sum), -ranks * std::numeric_limits<double>::denorm_min());
}

TEST(ExactWords, AreFewForShortTypes) {
  EXPECT_LE(ExactWords(DatatypeKind::float32, 2).count(), 12U);
  EXPECT_LE(ExactWords(DatatypeKind::float16, 2).count(), 5U);
  EXPECT_LE(ExactWords(DatatypeKind::float64, 2).count(), 73U);
}

TEST(Expansion, IsTheSumOrAMisfit) {
  Random random(2);
  std::size_t fits = 0;
  for (std::size_t which = 0; which < 20'000; ++which) {
    const FixedPoint number = number_of(test::difficult_numbers(random, which, random() % 6));
    const Expansion expansion = kernels::exact::expansion_of(number);
    if (is_misfit(expansion)) continue;
    ++fits;
    FixedPoint back;
    kernels::exact::add(back, expansion);
    ASSERT_EQ(bits(rounded(back)), bits(rounded(number))) << which;
    FixedPoint difference = number;
    for (const double part : expansion.parts) kernels::exact::add(difference, -part);
    kernels::exact::carry(difference);
    ASSERT_TRUE(number.seen >= FixedPoint::nan || kernels::exact::is_zero(difference)) << which;
  }
  EXPECT_GT(fits, 5000U);
}

TEST(Expansion, TellsZerosApart) {
  for (const std::vector<double>& x : {std::vector<double>{}, {-0.0}, {0.0}, {1.0, -1.0}}) {
    FixedPoint back;
    kernels::exact::add(back, kernels::exact::expansion_of(number_of(x)));
    EXPECT_EQ(back.seen, number_of(x).seen & 3U) << x.size();
  }
}

TEST(Expansion, IsAMisfitWhereARestIsLost) {
  EXPECT_TRUE(is_misfit(kernels::exact::expansion_of(number_of({1e300, 1e200, 1e100, 1}))));
  EXPECT_TRUE(is_misfit(kernels::exact::expansion_of(number_of({1.7e308, 1.7e308}))));
  FixedPoint tiny;
  kernels::exact::add_product(tiny, 0x1p-600, 0x1p-600);
  EXPECT_TRUE(is_misfit(kernels::exact::expansion_of(tiny)));
}

TEST(Expansion, OfAFewNumbersIsRoundedAsTheirSum) {
  Random random(3);
  std::size_t quick = 0;
  for (std::size_t which = 0; which < 100'000; ++which) {
    const std::size_t ranks = 1 + random() % 4;
    std::vector<Expansion> each(ranks);
    std::vector<double> all;
    bool is_quick = true;
    for (Expansion& expansion : each) {
      const std::vector<double> x = test::difficult_numbers(random, which, random() % 4);
      is_quick = is_quick && kernels::exact::add_few(expansion, x.data(), x.size());
      all.insert(all.end(), x.begin(), x.end());
    }
    double result = 0;
    if (!is_quick || !kernels::exact::round_few(each.data(), ranks, result)) continue;
    ++quick;
    ASSERT_EQ(bits(result), bits(rounded(number_of(all)))) << which;
  }
  EXPECT_GT(quick, 10'000U);
}

TEST(Expansion, SinglesAreRoundedAsTheirSumOrNotMeant) {
  Random random(4);
  std::size_t meant = 0;
  for (std::size_t which = 0; which < 40'000; ++which) {
    const std::size_t ranks = 1 + random() % 6;
    const std::size_t count = 1 + random() % 9;
    const std::size_t stride = count + random() % 3;
    const std::vector<double> numbers = test::difficult_numbers(random, which, ranks * stride);
    std::vector<double> results(count);
    const bool is_all = kernels::exact::round_singles(numbers.data(), ranks, stride, count, results.data());
    ASSERT_EQ(is_all, std::all_of(results.begin(), results.end(), kernels::exact::is_meant)) << which;
    for (std::size_t i = 0; i < count; ++i) {
      if (!kernels::exact::is_meant(results[i])) continue;
      ++meant;
      std::vector<double> each(ranks);
      for (std::size_t r = 0; r < ranks; ++r) each[r] = numbers[r * stride + i];
      ASSERT_EQ(bits(results[i]), bits(rounded(number_of(each)))) << which;
    }
  }
  EXPECT_GT(meant, 50'000U);
}

TEST(Expansion, SinglesThatAreNotMeant) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double most = std::numeric_limits<double>::max();
  for (const std::array<double, 3>& x : std::vector<std::array<double, 3>>{{nan, 1, 1},
                                                                           {infinity, 1, 1},
                                                                           {infinity, -infinity, 1},
                                                                           {1, -1, 0},
                                                                           {-0.0, -0.0, -0.0},
                                                                           {most, most, -most}}) {
    double result = 1;
    EXPECT_FALSE(kernels::exact::round_singles(x.data(), 3, 1, 1, &result)) << x[0];
    EXPECT_FALSE(kernels::exact::is_meant(result)) << x[0];
  }
}

}  // namespace
}  // namespace tutti
