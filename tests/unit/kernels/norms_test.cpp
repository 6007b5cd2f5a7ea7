// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <tutti/error.hpp>
#include <tutti/kernels/norms.hpp>
#include <vector>

namespace {

using namespace tutti;
using namespace tutti::kernels;

template <typename T>
class Norms : public testing::Test {};
using NormTypes = testing::Types<float, double, float16_t, bfloat16_t>;
TYPED_TEST_SUITE(Norms, NormTypes);

TYPED_TEST(Norms, EqualThePlainSumsForAnyPartitions) {
  const auto type = datatype_of<TypeParam>().kind();
  std::mt19937 generator(2);
  for (const std::size_t count : {0U, 1U, 5U, 16U, 8192U, 8193U, 100003U}) {
    std::vector<TypeParam> data(count);
    long double l1 = 0;
    long double l2 = 0;
    long double linf = 0;
    for (auto& x : data) {
      x = static_cast<TypeParam>(static_cast<float>(static_cast<int>(generator() % 2001) - 1000) / 512.0F);
      const long double size = std::fabs(static_cast<long double>(static_cast<float>(x)));
      l1 += size;
      l2 += size * size;
      linf = std::max(linf, size);
    }
    EXPECT_NEAR(norm(Norm::l1, type, data.data(), count), static_cast<double>(l1), 1e-12 * static_cast<double>(l1));
    EXPECT_NEAR(norm(Norm::l2, type, data.data(), count), static_cast<double>(std::sqrt(l2)),
                1e-12 * static_cast<double>(l2));
    EXPECT_NEAR(norm_part(Norm::l2, type, data.data(), count), static_cast<double>(l2),
                1e-12 * static_cast<double>(l2));
    EXPECT_EQ(norm(Norm::linf, type, data.data(), count), static_cast<double>(linf));
    for (const Norm kind : {Norm::l1, Norm::l2, Norm::linf}) {
      for (const std::size_t partitions : {2U, 3U, 7U, 50U}) {
        EXPECT_EQ(norm(kind, type, data.data(), count, partitions), norm(kind, type, data.data(), count, 1));
      }
    }
  }
}

TYPED_TEST(Norms, NanIsSeenAnywhere) {
  const auto type = datatype_of<TypeParam>().kind();
  for (const std::size_t at : {0U, 17U, 19999U}) {
    std::vector<TypeParam> data(20000, static_cast<TypeParam>(1.0F));
    data[at] = static_cast<TypeParam>(std::nanf(""));
    for (const Norm kind : {Norm::l1, Norm::l2, Norm::linf}) {
      EXPECT_TRUE(std::isnan(norm(kind, type, data.data(), data.size())));
    }
  }
}

TEST(NormsOf, OtherTypesAreRefused) {
  const int x = 1;
  EXPECT_THROW((void)norm(Norm::l1, DatatypeKind::int32, &x, 1), Error);
}

}  // namespace
